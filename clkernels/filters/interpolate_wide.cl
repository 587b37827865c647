// The interpolation of interpolate.cl for the vectors of a CPU, to planar float or a file's pixels. The file stands
// after store_sixteen.cl.
//
// -D BORDER_x
// -D TAPS_Y=n -D TAPS_X=n   are the window's taps; 1 leaves the axis as it is
// -D TILE=n     is the number of values in a work-item's row
// -D BAND=n     is the number of bases of its rows
//
// Groups have one work-item. Along the rows, lanes are rows; down the columns, they are values. `segment` is the
// largest number of coarse columns of a work-item; `coarse` holds INTERLEAVED · segment · LINES values. `lost` is as in
// encode.cl. The result has the rows from `top` to before `bottom`.
#define LINES (BAND + TAPS_Y - 1)  // coarse rows of a work-item, a multiple of 16

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void interpolate_wide(__global const float *in, __global PIXEL *out, __global const int *starts_y,
                 __global const float *weights_y, __global const int *bases_x, __global const float *weights_x,
                 int height, int width, int top, int bottom, int low_y, int rows, int columns, int segment, __global const uint *codes,
                 __global uint *lost, __local float *coarse) {
    __local float line[LINES * TILE];  // all values of each row; `coarse` has all rows of each channel's coarse columns
    int p0 = get_global_id(0) * TILE, count = min(TILE, width * INTERLEAVED - p0), x0 = p0 / INTERLEAVED;
    int i0 = bases_x[x0], end_i = bases_x[(p0 + count - 1) / INTERLEAVED] + TAPS_X;
    INT losses[2] = {0, 0};
    int b0 = (int)get_global_id(1) * BAND - (TAPS_Y - 1);
    in += get_global_id(2) * (size_t)rows * columns;
    out += get_global_id(2) * (size_t)(bottom - top) * width + p0;
    for (int k = 0; k < INTERLEAVED; k++)
        for (int r = 0; r < LINES; r++) {
            __global const float *row = in + ((size_t)k * rows + max(0, border_index(b0 + r, rows))) * columns;
            for (int i = i0; i < end_i; i++)
                coarse[(k * segment + i - i0) * LINES + r] = row[max(0, border_column(i, columns))];
        }
    for (int f = 0; f < count; f++) {
        int x = (p0 + f) / INTERLEAVED, k = (p0 + f) % INTERLEAVED;
        for (int g = 0; g < LINES; g += 16) {
            float16 sum = 0.0f;
            UNROLLED
            for (int t = 0; t < TAPS_X; t++) {
                float16 v = vload16(0, coarse + (k * segment + bases_x[x] - i0 + t) * LINES + g);
                sum = fma((float16)weights_x[x * TAPS_X + t], v, sum);
            }
            float s[16];
            vstore16(sum, 0, s);
            for (int r = 0; r < 16; r++) line[(g + r) * TILE + f] = s[r];
        }
    }
    for (int b = 0; b < BAND && b0 + b < rows; b++) {
        int end = min(starts_y[b0 + b + TAPS_Y] + low_y, bottom);
        for (int y = max(starts_y[b0 + b + TAPS_Y - 1] + low_y, top); y < end; y++)
            for (int f = 0; f < count; f += 16) {
                float16 sum = 0.0f;
                UNROLLED
                for (int k = 0; k < TAPS_Y; k++)
                    sum = fma((float16)weights_y[y * TAPS_Y + k], vload16(0, line + (b + k) * TILE + f), sum);
                __global PIXEL *to = out + (size_t)(y - top) * width * INTERLEAVED + f;
                store_sixteen(sum, to, count - f, codes, losses);
            }
    }
    for (int k = 0; k < 2; k++) {
        int sum = lanes_sum(losses[k]);
        if (sum) atomic_add(&lost[k], (uint)sum);
    }
}
