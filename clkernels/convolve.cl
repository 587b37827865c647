// Two-dimensional convolution, from the already turned kernel w (rows × columns), as a correlation:
//   out[y, x] = Σ_j Σ_i w[j, i] · in[y + j − above, x + i − left]
// with above = rows − 1 − ⌊rows/2⌋ (left likewise): the centre of the unturned kernel is (⌊rows/2⌋, ⌊columns/2⌋), as
// in scipy.ndimage.convolve. A launch sums rows first … last − 1 of w on top of what out holds (first = 0: nothing).
// Planar float (plane, row, column); dimension 2 counts planes; weights of plane p start at p · weights_stride (0:
// one kernel for all). Border: see border.cl; outside (constant) counts as cval.
//
// -D BORDER_x   -D TILE_X=n -D TILE_Y=n -D PER=n (convolve_local only)

static inline float sample(__global const float *in, int y, int x, int height, int width, float cval) {
    int j = border_index(y, height), i = border_index(x, width);
    return i < 0 || j < 0 ? cval : in[(size_t)j * width + i];
}

// Through local memory, for a kernel of any size, in blocks of BLOCK × BLOCK taps: the samples that a block needs for
// the group's TILE_X × TILE_Y results go to local memory, once for all results. A work-item owns PER results, TILE_Y /
// PER rows apart. Local: (TILE_X, TILE_Y / PER, 1).
#ifdef PER
#define BLOCK 16
#define COLUMNS (TILE_X + BLOCK - 1)
#define ROWS (TILE_Y + BLOCK - 1)
#define STEP (TILE_Y / PER)
__kernel void convolve_local(__global const float *in, __global const float *weights, __global float *out, int height,
                             int width, int rows, int columns, int weights_stride, int first, int last, float cval) {
    __local float tile[ROWS * COLUMNS];
    int i = get_local_id(0), j = get_local_id(1);
    int x0 = get_group_id(0) * TILE_X, y0 = get_group_id(1) * TILE_Y;
    int above = rows - 1 - rows / 2, left = columns - 1 - columns / 2;
    in += get_global_id(2) * (size_t)height * width;
    weights += get_global_id(2) * (size_t)weights_stride;

    float sum[PER];
    for (int m = 0; m < PER; m++) sum[m] = 0.0f;
    for (int r = first; r < last; r += BLOCK)
        for (int c = 0; c < columns; c += BLOCK) {
            int block_rows = min(BLOCK, last - r), block_columns = min(BLOCK, columns - c);
            for (int t = j * TILE_X + i; t < ROWS * COLUMNS; t += TILE_X * STEP) {
                int v = t / COLUMNS, u = t % COLUMNS;
                if (v < TILE_Y + block_rows - 1 && u < TILE_X + block_columns - 1)
                    tile[t] = sample(in, y0 + r + v - above, x0 + c + u - left, height, width, cval);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int v = 0; v < block_rows; v++)
                for (int u = 0; u < block_columns; u++) {
                    float w = weights[(size_t)(r + v) * columns + c + u];
                    for (int m = 0; m < PER; m++)
                        sum[m] = fma(w, tile[(j + m * STEP + v) * COLUMNS + i + u], sum[m]);
                }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    int x = x0 + i;
    out += get_global_id(2) * (size_t)height * width;
    for (int m = 0; m < PER; m++) {
        int y = y0 + j + m * STEP;
        size_t at = (size_t)y * width + x;
        if (x < width && y < height) out[at] = first ? out[at] + sum[m] : sum[m];
    }
}
#else

// Straight from global memory, 32 results of a row a work-item, so that a weight is read once for all of them.
// Where some sample lies beyond an edge, the samples for 16 taps at a time are gathered first.
// Global: (ceil(width / 32), height, planes); any group size.
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
                int column = border_index(x + c + k - left, width);
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
