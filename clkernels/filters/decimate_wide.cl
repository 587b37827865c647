// The decimation of decimate.cl for the vectors of a CPU, from planar float or a file's pixels. The file stands after
// load_sixteen.cl.
//
// -D BORDER_x
// -D TAPS_Y=n -D TAPS_X=n   are the window's taps; 1 leaves the axis as it is
// -D TILE=n     is the largest number of values in a work-item's row; they make `most` coarse columns
// -D ROWS=16    is the number of coarse rows in local memory
//
// Groups have one work-item. Down the columns, lanes are neighbouring values, whichever channels they belong to; along
// the rows, lanes are ROWS rows. The sums of all columns wait in local memory while a base's rows are read one after
// another.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void decimate_wide(__global const PIXEL *in, __global float *out, __global const int *starts_y,
              __global const float *weights_y, __global const int *starts_x, __global const float *weights_x, int height,
              int width, int low_y, int low_x, int rows, int columns, int most, int band, float cval,
              __global const float *table, float scale) {
    __local float sums[TAPS_Y * TILE], line[TILE * ROWS];  // TAPS_Y sums of each value; ROWS coarse rows of each value
    int i0 = get_global_id(0) * most, j0 = get_global_id(1) * band, x0 = starts_x[i0];
    int end_i = min(i0 + most, columns), end_j = min(j0 + band, rows);
    int count = (starts_x[end_i - 1 + TAPS_X] - x0) * INTERLEAVED, p0 = (x0 + low_x) * INTERLEAVED;
    in += get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)rows * columns;
    for (int t = 0; t < TAPS_Y * TILE; t++) sums[t] = 0.0f;
    for (int j = j0 - TAPS_Y + 1; j < end_j; j++) {
        int y = starts_y[j + TAPS_Y - 1], end = starts_y[j + TAPS_Y], r = (j - j0) % ROWS;
        for (int f = 0; f < count; f += 16) {
            float16 sum[TAPS_Y];
            UNROLLED
            for (int k = 1; k < TAPS_Y; k++) sum[k - 1] = vload16(0, sums + k * TILE + f);
            sum[TAPS_Y - 1] = 0.0f;
            for (int q = y; q < end; q++) {
                int row = border_index(q + low_y, height);
                float16 v = cval;
                if (row >= 0) v = sixteen(in + (size_t)row * width * INTERLEAVED, p0 + f, width, cval, table, scale);
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
        for (int k = 0; k < INTERLEAVED; k++)
            for (int i = i0; i < end_i; i++) {
                float16 sum = 0.0f;
                __global const float *weights = weights_x + i;
                int f = (starts_x[i] - x0) * INTERLEAVED + k, last = (starts_x[i + TAPS_X] - x0) * INTERLEAVED;
                for (; f < last; f += INTERLEAVED, weights += columns)
                    sum = fma((float16)*weights, vload16(f, line), sum);
                float s[16];
                vstore16(sum, 0, s);
                for (int p = 0; p <= r; p++) out[((size_t)k * rows + j - r + p) * columns + i] = s[p];
            }
    }
}
