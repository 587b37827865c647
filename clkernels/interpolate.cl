// A blur's way back from a coarse grid, by the short Gaussian of decimate.cl: see there.
// A column's TAPS coarse rows around the row at hand are interpolated along x once for all rows between them.
// weights_y[f · TAPS + k] of fine row f, bases_x[f] and weights_x[f · TAPS + k] of fine column f: of those in the image.
// Planar float (plane, row, column), dimension 2 counts planes. Border: see border.cl.
//
// -D BORDER_x   -D TAPS_Y=n -D TAPS_X=n   1: this axis stays as it is
// -D BAND=n     bases of rows of a work-item
// -D WIDE       for vectors of a CPU;   -D TILE=n   fine columns of a work-item

#ifndef WIDE

// A work-item's column of the coarse row j, interpolated along x.
static inline float between(__global const float *in, int j, const int *column, const float *w, int rows, int columns) {
    in += (size_t)border_index(j, rows) * columns;
    float sum = 0.0f;
    for (int k = 0; k < TAPS_X; k++) sum = fma(w[k], in[column[k]], sum);
    return sum;
}

// Any group: a work-item for each fine column and BAND bases of rows.
__kernel void interpolate(__global const float *in, __global float *out, __global const int *starts_y,
                          __global const float *weights_y, __global const int *bases_x,
                          __global const float *weights_x, int height, int width, int low_y, int rows, int columns) {
    int x = get_global_id(0), b = (int)get_global_id(1) * BAND - (TAPS_Y - 1);
    if (x >= width) return;
    in += get_global_id(2) * (size_t)rows * columns;
    out += get_global_id(2) * (size_t)height * width + x;
    int column[TAPS_X];
    float w[TAPS_X], samples[TAPS_Y];
    for (int k = 0; k < TAPS_X; k++) {
        column[k] = border_index(bases_x[x] + k, columns);
        w[k] = weights_x[x * TAPS_X + k];
    }
    for (int k = 1; k < TAPS_Y; k++) samples[k] = between(in, b + k - 1, column, w, rows, columns);
    for (int last = min(b + BAND, rows); b < last; b++) {
        for (int k = 1; k < TAPS_Y; k++) samples[k - 1] = samples[k];
        samples[TAPS_Y - 1] = between(in, b + TAPS_Y - 1, column, w, rows, columns);
        int end = min(starts_y[b + TAPS_Y] + low_y, height);
        for (int y = max(starts_y[b + TAPS_Y - 1] + low_y, 0); y < end; y++) {
            float sum = 0.0f;
            for (int k = 0; k < TAPS_Y; k++) sum = fma(weights_y[y * TAPS_Y + k], samples[k], sum);
            out[(size_t)y * width] = sum;
        }
    }
}

#else

#define UNROLLED __attribute__((opencl_unroll_hint))

// Groups of one work-item. Lanes are rows along the rows, and then columns: LINES is a multiple of 16.
#define LINES (BAND + TAPS_Y - 1)
#define COLUMNS (TAPS_X == 1 ? TILE : TILE * 2 / 3 + TAPS_X + 3)  // coarse ones: steps are hardly below 1.5

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void interpolate(__global const float *in, __global float *out, __global const int *starts_y,
                 __global const float *weights_y, __global const int *bases_x, __global const float *weights_x,
                 int height, int width, int low_y, int rows, int columns) {
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
