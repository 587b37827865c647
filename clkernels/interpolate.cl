// A blur's way back from a coarse grid, by the window of decimate.cl: see there.
// A column's TAPS coarse rows around the row at hand are interpolated along x once for all rows between them.
// weights_y[f · TAPS + k] of fine row f, bases_x[f] and weights_x[f · TAPS + k] of fine column f: of those in the image.
// Planar float (plane, row, column), dimension 2 counts planes. Border: see border.cl.
//
// -D BORDER_x   -D TAPS_Y=n -D TAPS_X=n   1: this axis stays as it is
// GPUs:  -D ITEMS=n (of a group)   -D COLUMNS=n (fine, of a work-item)   -D ROWS=n (coarse, in local memory)
//        -D SEGMENT=n   coarse columns of a group at most   -D MOST=n   fine rows of one base at most
// CPUs:  -D WIDE   -D TILE=n -D BAND=n   fine columns of a work-item, bases of its rows

#define UNROLLED __attribute__((opencl_unroll_hint))

#ifndef WIDE

#define TILE (ITEMS * COLUMNS)
#define FETCHES ((SEGMENT + ITEMS - 1) / ITEMS)  // of a work-item, in a coarse row

static inline void fetch_rows(__global const float *in, int j, const int *column, int rows, int columns,
                              float v[ROWS][FETCHES]) {
    UNROLLED
    for (int r = 0; r < ROWS; r++) {
        __global const float *row = in + (size_t)border_index(j + r, rows) * columns;
        UNROLLED
        for (int f = 0; f < FETCHES; f++) v[r][f] = row[column[f]];
    }
}

// The weights of a row, the same for all work-items: in as few loads as can be.
static inline void weights_of(float *w, __global const float *weights, int row) {
#if TAPS_Y % 2
    for (int k = 0; k < TAPS_Y; k++) w[k] = weights[row * TAPS_Y + k];
#else
    UNROLLED
    for (int k = 0; k < TAPS_Y / 2; k++) {
        float2 two = ((__global const float2 *)weights)[row * (TAPS_Y / 2) + k];
        w[2 * k] = two.x, w[2 * k + 1] = two.y;
    }
#endif
}

// A group goes down TILE fine columns, ROWS coarse rows at a time: these are fetched while those before are interpolated.
// Group: (ITEMS, 1, 1), for `band` bases of rows.
__kernel void interpolate(__global const float *restrict in, __global float *restrict out,
                          __global const int *restrict starts_y, __global const float *restrict weights_y,
                          __global const int *restrict bases_x, __global const float *restrict weights_x, int height,
                          int width, int low_y, int rows, int columns, int band) {
    __local float lines[ROWS * FETCHES * ITEMS];
    int item = get_local_id(0), x0 = get_group_id(0) * TILE, i0 = bases_x[x0];
    int b = (int)get_global_id(1) * band - (TAPS_Y - 1), last = min(b + band, rows) + TAPS_Y - 1;
    in += get_global_id(2) * (size_t)rows * columns;
    out += get_global_id(2) * (size_t)height * width + x0 + item;
    int column[FETCHES], from[COLUMNS];
    float next[ROWS][FETCHES], w[COLUMNS][TAPS_X], samples[TAPS_Y][COLUMNS];
    UNROLLED
    for (int f = 0; f < FETCHES; f++) column[f] = max(0, border_index(i0 + item + f * ITEMS, columns));
    UNROLLED
    for (int c = 0; c < COLUMNS; c++) {
        int x = min(x0 + item + c * ITEMS, width - 1);
        from[c] = bases_x[x] - i0;
        UNROLLED
        for (int k = 0; k < TAPS_X; k++) w[c][k] = weights_x[x * TAPS_X + k];
    }
    fetch_rows(in, b, column, rows, columns, next);
    int y = starts_y[b + TAPS_Y - 1] + low_y;
    for (int j = b; j < last; j += ROWS) {
        UNROLLED
        for (int r = 0; r < ROWS; r++)
            UNROLLED
            for (int f = 0; f < FETCHES; f++) lines[(r * FETCHES + f) * ITEMS + item] = next[r][f];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (j + ROWS < last) fetch_rows(in, j + ROWS, column, rows, columns, next);
        UNROLLED
        for (int r = 0; r < ROWS; r++) {
            UNROLLED
            for (int c = 0; c < COLUMNS; c++) {
                float sum = 0.0f;
                UNROLLED
                for (int k = 0; k < TAPS_X; k++)
                    sum = fma(w[c][k], lines[r * FETCHES * ITEMS + from[c] + k], sum);
                UNROLLED
                for (int k = 1; k < TAPS_Y; k++) samples[k - 1][c] = samples[k][c];
                samples[TAPS_Y - 1][c] = sum;
            }
            int base = j + r - (TAPS_Y - 1);
            if (base < b || j + r >= last) continue;
            int end = min(starts_y[base + TAPS_Y] + low_y, height);
            UNROLLED
            for (int q = 0; q < MOST; q++) {
                if (y + q < 0 || y + q >= end) continue;
                float v[TAPS_Y], sum[COLUMNS];
                weights_of(v, weights_y, y + q);
                UNROLLED
                for (int c = 0; c < COLUMNS; c++) sum[c] = 0.0f;
                UNROLLED
                for (int k = 0; k < TAPS_Y; k++)
                    UNROLLED
                    for (int c = 0; c < COLUMNS; c++) sum[c] = fma(v[k], samples[k][c], sum[c]);
                UNROLLED
                for (int c = 0; c < COLUMNS; c++)
                    if (x0 + item + c * ITEMS < width) out[(size_t)(y + q) * width + c * ITEMS] = sum[c];
            }
            y = starts_y[base + TAPS_Y] + low_y;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#else

// Groups of one work-item. Lanes are rows along the rows, and then columns: LINES is a multiple of 16.
#define LINES (BAND + TAPS_Y - 1)
#define COLUMNS (TAPS_X == 1 ? TILE : TILE * 2 / 3 + TAPS_X + 3)  // coarse ones: steps are hardly below 1.5

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void interpolate(__global const float *in, __global float *out, __global const int *starts_y,
                 __global const float *weights_y, __global const int *bases_x, __global const float *weights_x,
                 int height, int width, int low_y, int rows, int columns, int band) {
    __local float coarse[COLUMNS * LINES], line[LINES * TILE];  // of each coarse column all rows; the other way round
    int x0 = get_global_id(0) * TILE, count = min(TILE, width - x0), i0 = bases_x[x0];
    int b0 = (int)get_global_id(1) * BAND - (TAPS_Y - 1);
    in += get_global_id(2) * (size_t)rows * columns;
    out += get_global_id(2) * (size_t)height * width + x0;
    for (int r = 0; r < LINES; r++) {
        __global const float *row = in + (size_t)border_index(b0 + r, rows) * columns;
        for (int i = 0, last = bases_x[x0 + count - 1] + TAPS_X - i0; i < last; i++)
            coarse[i * LINES + r] = row[border_index(i0 + i, columns)];
    }
    for (int x = 0; x < count; x++)
        for (int g = 0; g < LINES; g += 16) {
            float16 sum = 0.0f;
            UNROLLED
            for (int k = 0; k < TAPS_X; k++) {
                float16 v = vload16(0, coarse + (bases_x[x0 + x] - i0 + k) * LINES + g);
                sum = fma((float16)weights_x[(x0 + x) * TAPS_X + k], v, sum);
            }
            float s[16];
            vstore16(sum, 0, s);
            for (int r = 0; r < 16; r++) line[(g + r) * TILE + x] = s[r];
        }
    for (int b = 0; b < BAND && b0 + b < rows; b++) {
        int end = min(starts_y[b0 + b + TAPS_Y] + low_y, height);
        for (int y = max(starts_y[b0 + b + TAPS_Y - 1] + low_y, 0); y < end; y++)
            for (int x = 0; x < count; x += 16) {
                float16 sum = 0.0f;
                UNROLLED
                for (int k = 0; k < TAPS_Y; k++)
                    sum = fma((float16)weights_y[y * TAPS_Y + k], vload16(0, line + (b + k) * TILE + x), sum);
                if (x + 16 <= count) {
                    vstore16(sum, 0, out + (size_t)y * width + x);
                } else {
                    float s[16];
                    vstore16(sum, 0, s);
                    for (int l = 0; x + l < count; l++) out[(size_t)y * width + x + l] = s[l];
                }
            }
    }
}
#endif
