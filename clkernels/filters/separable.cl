// One axis of a separable convolution with symmetric support:  out[i] = Σ_k w[k + r] · in[i + k],  k = −r…r.
// A stack of planes is seen as (outer, n, inner): the axis has n samples, `inner` elements apart in memory; inner is 1
// for rows and the width for columns. `from` and `to` are the first elements of the planes to read and write.
// The border is as in border.cl, with cval outside (constant).
//
// -D BORDER_x
// -D ROWS     is for inner = 1; otherwise the axis is down columns
// -D TILE=n   is the number of results of a tile (local kernel only)
// -D PER=n    is the number of results of a work-item (local kernel only)

static inline float sample(__global const float *in, size_t base, int i, int n, size_t inner, float cval) {
    int j = border_index(i, n);
    return j < 0 ? cval : in[base + (size_t)j * inner];
}

// Uses local memory, for any radius. A group owns a tile of TILE results along the axis for each of its columns, and
// walks over the taps in blocks of TILE. It keeps two blocks of samples in local memory, so that each sample is fetched
// from global memory once a block instead of once a tap. A work-item owns PER results, spread over the tile.
// Local: (TILE / PER, 1) for rows; (columns, TILE / PER) for columns, with dimension 0 along the row so that accesses
// coalesce. Global: dimensions 0 and 1 as local, then the outer index. tile: 2·TILE·columns floats.
#ifdef TILE
#define STEP (TILE / PER)
__kernel void separable_local(__global const float *in, __global const float *weights, __global float *out,
                              ulong from, ulong to, int outer, int n, int inner, int radius, float cval, __local float *tile) {
#ifdef ROWS
    int x = get_group_id(0) * TILE, t = get_local_id(0), column = 0, columns = 1, c = 0, o = get_global_id(1);
#else
    int x = get_group_id(1) * TILE, t = get_local_id(1), column = get_local_id(0), columns = get_local_size(0);
    int c = get_global_id(0), o = get_global_id(2);
#endif
    int valid = c < inner && o < outer;
    size_t base = (size_t)o * n * inner + c;
    in += from;
    out += to;
    float sum[PER];
    for (int m = 0; m < PER; m++) {
        sum[m] = 0.0f;
        int i = t + m * STEP;
        tile[i * columns + column] = valid ? sample(in, base, x - radius + i, n, inner, cval) : 0.0f;
    }
    for (int k = 0; k <= 2 * radius; k += TILE) {
        for (int m = 0; m < PER; m++) {
            int i = t + m * STEP + TILE;
            tile[i * columns + column] = valid ? sample(in, base, x - radius + k + i, n, inner, cval) : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        int taps = min(TILE, 2 * radius + 1 - k);
        for (int j = 0; j < taps; j++) {
            float w = weights[k + j];
            for (int m = 0; m < PER; m++) sum[m] = fma(w, tile[(t + m * STEP + j) * columns + column], sum[m]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int m = 0; m < PER; m++) {  // own elements only: the next fence orders them for the others
            int i = t + m * STEP;
            tile[i * columns + column] = tile[(i + TILE) * columns + column];
        }
    }
    for (int m = 0; m < PER; m++) {
        int i = x + t + m * STEP;
        if (valid && i < n) out[base + (size_t)i * inner] = sum[m];
    }
}
#else

// Reads global memory directly. A work-item makes 32 results of a row, or 4 rows of 16: on a CPU neighbours are the
// lanes of vector registers, a loaded sample or weight serves several results, and caches replace local memory.
// Global: (ceil(width / 32), rows) for rows, (ceil(width / 16), ceil(height / 4), planes) for columns; groups of any
// size.

static inline float16 load16(__global const float *p, int count) {  // the first `count` exist; the last is repeated
    if (count >= 16) return vload16(0, p);
    float s[16];
    for (int i = 0; i < 16; i++) s[i] = p[min(i, count - 1)];
    return vload16(0, s);
}

static inline void store16(float16 v, __global float *p, int count) {
    if (count >= 16) {
        vstore16(v, 0, p);
    } else {
        float s[16];
        vstore16(v, 0, s);
        for (int i = 0; i < count; i++) p[i] = s[i];
    }
}

__kernel void rows_direct(__global const float *in, __global const float *weights, __global float *out,
                          ulong from, ulong to, int rows, int width, int radius, float cval) {
    int x = get_global_id(0) * 32;
    int row = get_global_id(1);
    if (x >= width || row >= rows) return;
    in += from;
    out += to;
    size_t base = (size_t)row * width;
    if (x >= radius && x + 32 + radius <= width) {
        float16 left = 0.0f, right = 0.0f;
        for (int k = 0; k <= 2 * radius; k++) {
            float16 w = weights[k];
            left = fma(w, vload16(0, in + base + x - radius + k), left);
            right = fma(w, vload16(1, in + base + x - radius + k), right);
        }
        vstore16(left, 0, out + base + x);
        vstore16(right, 1, out + base + x);
        return;
    }
    for (int end = min(x + 32, width); x < end; x += 16) {
        // Each tap takes one new sample. A loop over the taps for each result would take sixteen times as long, and
        // more rounds than llvmpipe's loops have, 65535 a work-item.
        float16 sum = 0.0f;
        float s[16];
        for (int j = 0; j < 16; j++) s[j] = sample(in, base, x + j - radius - 1, width, 1, cval);
        float16 v = vload16(0, s);
        for (int k = 0; k <= 2 * radius; k++) {
            float next = sample(in, base, x + k - radius + 15, width, 1, cval);
            v = (float16)(v.s1234, v.s5678, v.s9abc, v.sdef, next);
            sum = fma((float16)weights[k], v, sum);
        }
        store16(sum, out + base + x, width - x);
    }
}

__kernel void columns_direct(__global const float *in, __global const float *weights, __global float *out,
                             ulong from, ulong to, int planes, int height, int width, int radius, float cval) {
    int x = get_global_id(0) * 16, y = get_global_id(1) * 4;
    if (x >= width || y >= height || get_global_id(2) >= planes) return;
    in += from;
    out += to;
    size_t base = (size_t)get_global_id(2) * height * width + x;
    float16 s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
    // Sample k − radius meets weight k − m in result m. Weights outside the kernel are skipped: 0 · NaN would be NaN.
    for (int k = 0; k <= 2 * radius + 3; k++) {
        int j = border_index(y + k - radius, height);
        float16 v = j < 0 ? (float16)cval : load16(in + base + (size_t)j * width, width - x);
        if (k <= 2 * radius) s0 = fma((float16)weights[k], v, s0);
        if (k >= 1 && k <= 2 * radius + 1) s1 = fma((float16)weights[k - 1], v, s1);
        if (k >= 2 && k <= 2 * radius + 2) s2 = fma((float16)weights[k - 2], v, s2);
        if (k >= 3) s3 = fma((float16)weights[k - 3], v, s3);
    }
    __global float *result = out + base + (size_t)y * width;
    store16(s0, result, width - x);
    if (y + 1 < height) store16(s1, result + width, width - x);
    if (y + 2 < height) store16(s2, result + 2 * (size_t)width, width - x);
    if (y + 3 < height) store16(s3, result + 3 * (size_t)width, width - x);
}
#endif
