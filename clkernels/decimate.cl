// A blur's way to a coarse grid: a short window, of TAPS coarse samples around each fine one, and decimation. Of an axis
// (gpuops/coarse.py):
//   fine sample f (from `low` on, so that what stands beyond the edges is a sample like others) meets the coarse samples
//   base(f) … base(f) + TAPS − 1, and base never falls: those of base b are starts[b + TAPS − 1] … starts[b + TAPS] − 1.
// Down a column the TAPS sums that the row at hand belongs to are in registers; rows are taken together from local memory.
// weights_y[f · TAPS + k]: of fine row f in coarse row base + k; weights_x[q · columns + i]: of the q-th fine column that
// coarse column i is made of.
// Planar float (plane, row, column), dimension 2 counts planes. Border: see border.cl.
//
// -D BORDER_x   -D TAPS_Y=n -D TAPS_X=n   1: this axis stays as it is
// -D ROWS=n     coarse rows that are in local memory together
//               of 4s
// GPUs:  -D ITEMS=n (of a group)   -D COLUMNS=n (fine, of a work-item)   -D MOST=n   fine rows of one base at most
//        -D WIDEST=n   fine columns of a coarse one at most
// CPUs:  -D WIDE   -D TILE=n   fine columns of a group, at most, of `most` coarse ones

#define UNROLLED __attribute__((opencl_unroll_hint))

static inline float fetch(__global const float *in, int row, int x, int width, float cval) {
#ifdef BORDER_CONSTANT
    if (row < 0 || x < 0) return cval;
#endif
    return in[(size_t)row * width + x];
}

#ifndef WIDE

#define TILE (ITEMS * COLUMNS)
#define PITCH (TILE + TILE / 8 + 1)
#define AT(x) ((x) + (x) / 8)  // neighbouring coarse columns' samples in different banks

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

// MOST rows from one on. `inside`: no column is outside.
static inline void fetch_rows(__global const float *in, int row, const int *x, int inside, int height, int width,
                              float cval, float v[MOST][COLUMNS]) {
    if (inside && row >= 0 && row + MOST <= height) {
        __global const float *p = in + (size_t)row * width;
        UNROLLED
        for (int q = 0; q < MOST; q++, p += width)
            UNROLLED
            for (int c = 0; c < COLUMNS; c++) v[q][c] = p[x[c]];
    } else {
        UNROLLED
        for (int q = 0; q < MOST; q++) {
            int at = border_index(row + q, height);
            UNROLLED
            for (int c = 0; c < COLUMNS; c++) v[q][c] = fetch(in, at, x[c], width, cval);
        }
    }
}

// Group: (ITEMS, 1, 1), for `most` coarse columns, made of TILE fine ones, and `band` coarse rows.
__kernel void decimate(__global const float *restrict in, __global float *restrict out,
                       __global const int *restrict starts_y, __global const float *restrict weights_y,
                       __global const int *restrict starts_x, __global const float *restrict weights_x, int height,
                       int width, int low_y, int low_x, int rows, int columns, int most, int band, float cval) {
    __local float4 lines[ROWS / 4 * PITCH];  // of each fine column, four coarse rows
    int item = get_local_id(0), i0 = get_group_id(0) * most, j0 = get_group_id(1) * band, x0 = starts_x[i0];
    int j1 = min(j0 + band, rows), y = starts_y[j0], x[COLUMNS], outside = 0;
    in += get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)rows * columns;
    float sums[TAPS_Y][COLUMNS];
    UNROLLED
    for (int c = 0; c < COLUMNS; c++) {
        x[c] = border_index(x0 + low_x + item + c * ITEMS, width);
        outside |= x[c] < 0;
        UNROLLED
        for (int k = 0; k < TAPS_Y; k++) sums[k][c] = 0.0f;
    }
    float v[MOST][COLUMNS];
    fetch_rows(in, y + low_y, x, !outside, height, width, cval, v);
    for (int j = j0 - TAPS_Y + 1; j < j1; j++) {
        int end = starts_y[j + TAPS_Y], r = j - j0;
        UNROLLED
        for (int q = 0; q < MOST; q++) {
            if (y + q >= end) break;
            float w[TAPS_Y];
            weights_of(w, weights_y, y + q);
            UNROLLED
            for (int k = 0; k < TAPS_Y; k++)
                UNROLLED
                for (int c = 0; c < COLUMNS; c++) sums[k][c] = fma(w[k], v[q][c], sums[k][c]);
        }
        y = end;
        if (j + 1 < j1) fetch_rows(in, y + low_y, x, !outside, height, width, cval, v);
        UNROLLED
        for (int c = 0; c < COLUMNS; c++) {
            if (r >= 0) ((__local float *)(lines + r % ROWS / 4 * PITCH + AT(item + c * ITEMS)))[r % 4] = sums[0][c];
            UNROLLED
            for (int k = 1; k < TAPS_Y; k++) sums[k - 1][c] = sums[k][c];
            sums[TAPS_Y - 1][c] = 0.0f;
        }
        if (r < 0 || (r % ROWS != ROWS - 1 && j != j1 - 1)) continue;
        barrier(CLK_LOCAL_MEM_FENCE);
        int first = j - r % ROWS;  // of the rows in local memory
        for (int t = item; t < most * (ROWS / 4); t += ITEMS) {
            int i = i0 + t % most, s = t / most;
            if (i >= columns) continue;
            int f = starts_x[i] - x0, last = starts_x[i + TAPS_X] - x0 - 1;
            float4 sum = 0.0f;
            UNROLLED
            for (int q = 0; q < WIDEST; q++)  // weights beyond the last sample are 0; there it is met again
                sum = fma((float4)weights_x[q * columns + i], lines[s * PITCH + AT(min(f + q, last))], sum);
            __global float *to = out + (size_t)(first + s * 4) * columns + i;
            int count = j - first - s * 4;
            if (count >= 0) to[0] = sum.x;
            if (count >= 1) to[columns] = sum.y;
            if (count >= 2) to[2 * (size_t)columns] = sum.z;
            if (count >= 3) to[3 * (size_t)columns] = sum.w;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#else

// Groups of one work-item. Lanes are columns down the columns, and then rows: ROWS is 16. The sums of all columns wait in
// local memory while a base's rows are read, along the rows.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void decimate(__global const float *in, __global float *out, __global const int *starts_y,
              __global const float *weights_y, __global const int *starts_x, __global const float *weights_x, int height,
              int width, int low_y, int low_x, int rows, int columns, int most, int band, float cval) {
    __local float sums[TAPS_Y * TILE], line[TILE * ROWS];  // of each fine column; and of each, ROWS coarse rows
    int i0 = get_global_id(0) * most, j0 = get_global_id(1) * band, x0 = starts_x[i0];
    int end_i = min(i0 + most, columns), end_j = min(j0 + band, rows), count = starts_x[end_i - 1 + TAPS_X] - x0;
    in += get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)rows * columns;
    for (int t = 0; t < TAPS_Y * TILE; t++) sums[t] = 0.0f;
    for (int j = j0 - TAPS_Y + 1; j < end_j; j++) {
        int y = starts_y[j + TAPS_Y - 1], end = starts_y[j + TAPS_Y], r = (j - j0) % ROWS;
        for (int f = 0; f < count; f += 16) {
            int x = x0 + f + low_x, inside = x >= 0 && x + 16 <= width;
            float16 sum[TAPS_Y];
            UNROLLED
            for (int k = 1; k < TAPS_Y; k++) sum[k - 1] = vload16(0, sums + k * TILE + f);
            sum[TAPS_Y - 1] = 0.0f;
            for (int q = y; q < end; q++) {
                int row = border_index(q + low_y, height);
                float16 v = cval;
                if (row >= 0 && inside) {
                    v = vload16(0, in + (size_t)row * width + x);
                } else if (row >= 0) {
                    float s[16];
                    for (int l = 0; l < 16; l++)
                        s[l] = fetch(in, row, border_index(x + l, width), width, cval);
                    v = vload16(0, s);
                }
                UNROLLED
                for (int k = 0; k < TAPS_Y; k++) sum[k] = fma((float16)weights_y[q * TAPS_Y + k], v, sum[k]);
            }
            UNROLLED
            for (int k = 1; k < TAPS_Y; k++) vstore16(sum[k], 0, sums + k * TILE + f);
            if (j < j0) continue;
            float s[16];
            vstore16(sum[0], 0, s);
            for (int l = 0; l < 16; l++) line[(f + l) * ROWS + r] = s[l];
        }
        if (j < j0 || (r != ROWS - 1 && j != end_j - 1)) continue;
        for (int i = i0; i < end_i; i++) {
            float16 sum = 0.0f;
            __global const float *weights = weights_x + i;
            for (int f = starts_x[i] - x0, last = starts_x[i + TAPS_X] - x0; f < last; f++, weights += columns)
                sum = fma((float16)*weights, vload16(f, line), sum);
            float s[16];
            vstore16(sum, 0, s);
            for (int p = 0; p <= r; p++) out[(size_t)(j - r + p) * columns + i] = s[p];
        }
    }
}
#endif
