// Two-dimensional convolution, computed as a correlation with the already turned kernel w (rows × columns):
//   out[y, x] = Σ_j Σ_i w[j, i] · in[y + j − above, x + i − left]
// with above = rows − 1 − ⌊rows/2⌋ (left likewise): the centre of the unturned kernel is (⌊rows/2⌋, ⌊columns/2⌋), as
// in scipy.ndimage.convolve. A launch sums rows first … last − 1 of w, and adds them to `out` unless first is 0.
// Planes are float (plane, row, column); dimension 2 counts them. The weights of plane p start at p · weights_stride,
// which is 0 for one kernel for all. The border is as in border.cl, with cval outside (constant).
//
// -D BORDER_x
// -D GROUP_X=n -D GROUP_Y=n   are the group's size (convolve_local only)
// -D PER=n                    is the number of rows of results of a work-item (convolve_local only)

static inline float sample(__global const float *in, int y, int x, int height, int width, float cval) {
    int j = border_index(y, height), i = border_column(x, width);
    return i < 0 || j < 0 ? cval : in[(size_t)j * width + i];
}

// Uses local memory, for a kernel of any size, in blocks of BLOCK × BLOCK taps. A block's weights, and all samples that
// the group's results need for it, go to local memory once. A work-item owns PER rows of four neighbouring results, and
// reads each row of samples once: a weight serves four results, and a row serves PER. Taps outside the kernel are
// skipped rather than given weight 0, which would turn a NaN or an infinity into NaN.
// Group: (GROUP_X, GROUP_Y, 1), for 4 · GROUP_X × PER · GROUP_Y results.
#ifdef PER
#define UNROLLED __attribute__((opencl_unroll_hint))
#define BLOCK 16                 // rows and columns of weights that are in local memory at once
#define QUADS (BLOCK / 4)        // float4 of a block's row
#define PITCH (GROUP_X + QUADS)  // float4 of the tile's row
#define TILE_Y (PER * GROUP_Y)   // rows of results of a group

__kernel void convolve_local(__global const float *in, __global const float *weights, __global float *out, int height,
                             int width, int rows, int columns, int weights_stride, int first, int last, float cval) {
    __local float4 tile[(TILE_Y + BLOCK - 1) * PITCH], block[BLOCK * QUADS];
    __local float *samples = (__local float *)tile, *taps = (__local float *)block;
    int i = get_local_id(0), j = get_local_id(1);
    int x0 = get_group_id(0) * 4 * GROUP_X, y0 = get_group_id(1) * TILE_Y;
    int above = rows - 1 - rows / 2, left = columns - 1 - columns / 2;
    in += get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)height * width;
    weights += get_global_id(2) * (size_t)weights_stride;

    float4 sum[PER];
    UNROLLED
    for (int m = 0; m < PER; m++) sum[m] = 0.0f;
    for (int r = first; r < last; r += BLOCK)
        for (int c = 0; c < columns; c += BLOCK) {
            int block_rows = min(BLOCK, last - r), block_columns = min(BLOCK, columns - c);
            for (int v = j; v < TILE_Y + block_rows - 1; v += GROUP_Y)
                for (int u = i; u < 4 * GROUP_X + block_columns - 1; u += GROUP_X)
                    samples[v * 4 * PITCH + u] = sample(in, y0 + r + v - above, x0 + c + u - left, height, width, cval);
            for (int v = j; v < block_rows; v += GROUP_Y)
                for (int u = i; u < block_columns; u += GROUP_X)
                    taps[v * BLOCK + u] = weights[(size_t)(r + v) * columns + c + u];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int s = 0; s < PER - 1 + block_rows; s++) {  // row s of samples meets row s − m of weights in result m
                int at = (j * PER + s) * PITCH + i;
                float4 here = tile[at];
                int q = 0;
                for (; 4 * q + 4 <= block_columns; q++) {
                    float4 next = tile[at + q + 1];
                    UNROLLED
                    for (int m = 0; m < PER; m++)
                        if (s >= m && s - m < block_rows) {
                            float4 w = block[(s - m) * QUADS + q];
                            sum[m] = fma((float4)w.x, here, sum[m]);
                            sum[m] = fma((float4)w.y, (float4)(here.yzw, next.x), sum[m]);
                            sum[m] = fma((float4)w.z, (float4)(here.zw, next.xy), sum[m]);
                            sum[m] = fma((float4)w.w, (float4)(here.w, next.xyz), sum[m]);
                        }
                    here = next;
                }
                for (int k = 4 * q; k < block_columns; k++) {  // up to three columns remain
                    UNROLLED
                    for (int m = 0; m < PER; m++)
                        if (s >= m && s - m < block_rows)
                            sum[m] = fma((float4)taps[(s - m) * BLOCK + k], here, sum[m]);
                    here = (float4)(here.yzw, samples[4 * at + k + 4]);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    int x = x0 + 4 * i;
    UNROLLED
    for (int m = 0; m < PER; m++) {
        int y = y0 + j * PER + m;
        __global float *to = out + (size_t)y * width + x;
        if (y >= height || x >= width) continue;
        if (width % 4 == 0) {
            *(__global float4 *)to = first ? *(__global float4 *)to + sum[m] : sum[m];
        } else {
            float s[4] = {sum[m].x, sum[m].y, sum[m].z, sum[m].w};
            for (int k = 0; k < min(4, width - x); k++) to[k] = first ? to[k] + s[k] : s[k];
        }
    }
}
#else

// Reads global memory directly, for 32 results of a row in each work-item, so that a weight is read once for all of
// them. Where some sample lies beyond an edge, the samples for 16 taps at a time are gathered first.
// Global: (ceil(width / 32), height, planes); groups may have any size.
__kernel void convolve_direct(__global const float *in, __global const float *weights, __global float *out, int height,
                              int width, int rows, int columns, int weights_stride, int first, int last, float cval) {
    int x = get_global_id(0) * 32, y = get_global_id(1);
    if (x >= width || y >= height) return;
    int above = rows - 1 - rows / 2, left = columns - 1 - columns / 2;
    in += get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)height * width + (size_t)y * width + x;
    weights += get_global_id(2) * (size_t)weights_stride;

    int inside = x >= left && x - left + columns + 31 <= width;
    float16 sum0 = 0.0f, sum1 = 0.0f;
    for (int r = first; r < last; r++) {
        __global const float *w = weights + (size_t)r * columns;
        int row = border_index(y + r - above, height);
        if (inside && row >= 0) {
            __global const float *samples = in + (size_t)row * width + x - left;
            for (int c = 0; c < columns; c++) {
                sum0 = fma((float16)w[c], vload16(0, samples + c), sum0);
                sum1 = fma((float16)w[c], vload16(1, samples + c), sum1);
            }
            continue;
        }
        for (int c = 0; c < columns; c += 16) {
            float samples[48];
            int taps = min(16, columns - c);
            for (int k = 0; k < taps + 31; k++) {
                int column = border_column(x + c + k - left, width);
                samples[k] = row < 0 || column < 0 ? cval : in[(size_t)row * width + column];
            }
            for (int k = 0; k < taps; k++) {
                sum0 = fma((float16)w[c + k], vload16(0, samples + k), sum0);
                sum1 = fma((float16)w[c + k], vload16(1, samples + k), sum1);
            }
        }
    }
    if (x + 32 <= width) {
        vstore16(first ? vload16(0, out) + sum0 : sum0, 0, out);
        vstore16(first ? vload16(1, out) + sum1 : sum1, 1, out);
    } else {
        float s[32];
        vstore16(sum0, 0, s);
        vstore16(sum1, 1, s);
        for (int k = 0; k < width - x; k++) out[k] = first ? out[k] + s[k] : s[k];
    }
}
#endif
