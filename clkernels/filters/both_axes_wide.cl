// The convolution of both_axes.cl with symmetric weights, for the vectors of a CPU. Input and output are planar float
// or a file's pixels, as in load_sixteen.cl and store_sixteen.cl, which stand before this file, as block_columns.cl does.
//
// -D BORDER_x
//
// Down the columns, a vector has sixteen neighbouring values of a row. Along the rows, it has sixteen rows of one
// column, because blocks of 16 × 16 are transposed in between. So both convolutions sum whole vectors, aligned and
// consecutive in local memory, however the image's rows are aligned.

// Replaces v[i·step] by Σ_k w[k] · v[(i + k)·step], k = 0…2·radius, for i = 0…count − 1 and up to three more. The two
// values that share a weight are added first; beyond 1.7e38 this sum overflows. Four neighbours share their loads, as
// do four taps.
static inline void convolve(__local float16 *v, int step, int count, __global const float *w, int radius) {
    for (int i = 0; i < count; i += 4, v += 4 * step) {
        float16 sums[4];
        UNROLLED
        for (int m = 0; m < 4; m++) sums[m] = w[radius] * v[(m + radius) * step];
        __local const float16 *left = v, *right = v + 2 * radius * step;
        __attribute__((opencl_unroll_hint(4)))
        for (int k = 0; k < radius; k++, left += step, right -= step) {
            UNROLLED
            for (int m = 0; m < 4; m++) sums[m] = fma((float16)w[k], left[m * step] + right[m * step], sums[m]);
        }
        UNROLLED
        for (int m = 0; m < 4; m++) v[m * step] = sums[m];
    }
}

// Global: (ceil(width / strip), ceil(rows / band), planes), groups of one; strip is a multiple of 16. The result has
// `rows` rows, from `top` on. A strip consists of columns of 16 values. `down` holds 2·radius_y + 16 rows of each; `along` holds their values, and
// 3·INTERLEAVED more. `lost` is as in encode.cl.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void both_wide(__global const PIXEL *in, __global const float *weights_y, __global const float *weights_x,
               __global PIXEL *out, ulong from, int height, int width, int top, int rows, int strip, int band,
               int radius_y, int radius_x, float cval, __global const float *lights, float scale, __global const uint *codes, __global uint *lost,
               __local float16 *down, __local float16 *along) {
    int pitch = width * INTERLEAVED, p0 = get_global_id(0) * strip * INTERLEAVED;
    int count = min(strip * INTERLEAVED, pitch - p0);
    int margin = radius_x * INTERLEAVED, lead = (margin + 15) / 16 * 16;  // loaded before p0, as aligned as p0
    int y0 = top + get_global_id(1) * band, end = min(y0 + band, top + rows), keep = 2 * radius_y + 16;
    in += from + get_global_id(2) * (size_t)height * pitch;
    out += get_global_id(2) * (size_t)rows * pitch + p0;
    INT losses[2] = {0, 0};
    for (int y = y0; y < end; y += 16) {
        for (int f = 0; f < lead + count + margin; f += 16) {
            __local float16 *column = down + f / 16 * keep;
            int k = 0;
            if (y > y0)  // the other rows of the last sixteen results move up
                for (; k < keep - 16; k++) column[k] = column[k + 16];
            for (; k < keep; k++) {
                int row = border_index(y - radius_y + k, height);
                float16 v = cval;
                if (row >= 0) v = sixteen(in + (size_t)row * pitch, p0 - lead + f, width, cval, lights, scale);
                column[k] = v;
            }
            convolve(column, 1, 16, weights_y, radius_y);
            for (int h = 0; h < 16; h += 8) {
                float16 eight[8];
                columns_of(column, h, eight);
                UNROLLED
                for (int c = 0; c < 8; c++) along[f + h + c] = eight[c];
            }
        }
        __local float16 *line = along + lead - margin;
        for (int c = 0; c < INTERLEAVED; c++) convolve(line + c, INTERLEAVED, count / INTERLEAVED, weights_x, radius_x);
        for (int f = 0; f < count; f += 16)
            for (int h = 0; h < min(16, end - y); h += 8) {
                float16 eight[8];
                columns_of(line + f, h, eight);
                UNROLLED
                for (int m = 0; m < 8; m++)
                    if (y + h + m < end)
                        store_sixteen(eight[m], out + (size_t)(y - top + h + m) * pitch + f, count - f, codes, losses);
            }
    }
#ifndef PLANAR
    for (int k = 0; k < 2; k++) {
        int sum = lanes_sum(losses[k]);
        if (sum) atomic_add(&lost[k], (uint)sum);
    }
#endif
}
