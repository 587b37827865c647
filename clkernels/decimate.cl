// A blur's way to a coarse grid: a short Gaussian, of TAPS coarse samples around each fine one, and decimation. Of an axis
// (gpuops/coarse.py):
//   fine sample f (from `low` on, so that what stands beyond the edges is a sample like others) meets the coarse samples
//   base(f) … base(f) + TAPS − 1, and base never falls: those of base b are starts[b + TAPS − 1] … starts[b + TAPS] − 1.
// Down a column the TAPS sums that the row at hand belongs to are in registers; rows are taken together from local memory.
// weights_y[f · TAPS + k]: of fine row f in coarse row base + k; weights_x[q · columns + i]: of the q-th fine column that
// coarse column i is made of.
// Planar float (plane, row, column), dimension 2 counts planes. Border: see border.cl.
//
// -D BORDER_x   -D TAPS_Y=n -D TAPS_X=n   1: this axis stays as it is
// -D TILE=n     fine columns of a group, at most, of `most` coarse ones;   -D BAND=n   coarse rows
// -D ROWS=n     coarse rows that are in local memory together
// -D MOST=n     fine rows of one base at most (GPUs)
// -D WIDE       for vectors of a CPU

static inline float fetch(__global const float *in, int y, int x, int height, int width, float cval) {
    int row = border_index(y, height);
    return row < 0 || x < 0 ? cval : in[(size_t)row * width + x];
}

#ifndef WIDE

#define PER 4  // rows of a work-item, which reads weights once for all of them
#define PITCH (TILE + TILE / 32 + 1)
#define AT(x) ((x) + (x) / 32)  // neighbouring coarse columns' samples in different banks

// Group: (TILE, 1, 1), for `most` coarse columns and BAND coarse rows.
__kernel void decimate(__global const float *in, __global float *out, __global const int *starts_y,
                       __global const float *weights_y, __global const int *starts_x, __global const float *weights_x,
                       int height, int width, int low_y, int low_x, int rows, int columns, int most, float cval) {
    __local float line[ROWS * PITCH];
    int item = get_local_id(0), i0 = get_group_id(0) * most, j0 = get_group_id(1) * BAND, x0 = starts_x[i0];
    int x = border_index(x0 + item + low_x, width);
    in += get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)rows * columns;
    float sums[TAPS_Y];
    for (int k = 0; k < TAPS_Y; k++) sums[k] = 0.0f;
    int y = starts_y[j0];
    for (int j = j0 - TAPS_Y + 1, r = 1 - TAPS_Y; r < BAND && j < rows; j++, r++) {
        int end = starts_y[j + TAPS_Y];
        float v[MOST];
        for (int q = 0; q < MOST; q++)  // all are on their way before the first is needed
            v[q] = y + q < end ? fetch(in, y + q + low_y, x, height, width, cval) : 0.0f;
        for (int q = 0; q < MOST; q++)
            if (y + q < end)
                for (int k = 0; k < TAPS_Y; k++) sums[k] = fma(weights_y[(y + q) * TAPS_Y + k], v[q], sums[k]);
        y = end;
        if (r >= 0) line[r % ROWS * PITCH + AT(item)] = sums[0];
        for (int k = 1; k < TAPS_Y; k++) sums[k - 1] = sums[k];
        sums[TAPS_Y - 1] = 0.0f;
        if (r < 0 || (r % ROWS != ROWS - 1 && j != rows - 1)) continue;
        barrier(CLK_LOCAL_MEM_FENCE);
        int first = j - r % ROWS;  // of the rows in local memory
        for (int t = item; t < most * (ROWS / PER); t += TILE) {
            int i = i0 + t % most, s = t / most * PER;
            if (i >= columns) continue;
            int f = starts_x[i] - x0, last = starts_x[i + TAPS_X] - x0;
            float sum[PER];
            for (int p = 0; p < PER; p++) sum[p] = 0.0f;
            __global const float *weights = weights_x + i;
            for (; f < last; f++, weights += columns)
                for (int p = 0; p < PER; p++) sum[p] = fma(*weights, line[(s + p) * PITCH + AT(f)], sum[p]);
            for (int p = 0; p < PER && first + s + p <= j; p++) out[(size_t)(first + s + p) * columns + i] = sum[p];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#else

#define UNROLLED __attribute__((opencl_unroll_hint))

// Groups of one work-item. Lanes are columns down the columns, and then rows: ROWS is 16. The sums of all columns wait in
// local memory while a base's rows are read, along the rows.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void decimate(__global const float *in, __global float *out, __global const int *starts_y,
              __global const float *weights_y, __global const int *starts_x, __global const float *weights_x, int height,
              int width, int low_y, int low_x, int rows, int columns, int most, float cval) {
    __local float sums[TAPS_Y * TILE], line[TILE * ROWS];  // of each fine column; and of each, ROWS coarse rows
    int i0 = get_global_id(0) * most, j0 = get_global_id(1) * BAND, x0 = starts_x[i0];
    int end_i = min(i0 + most, columns), end_j = min(j0 + BAND, rows), count = starts_x[end_i - 1 + TAPS_X] - x0;
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
                        s[l] = fetch(in, row, border_index(x + l, width), height, width, cval);
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
