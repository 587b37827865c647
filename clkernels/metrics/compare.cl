// How far two arrays of values differ, by the errors and sums of sums.cl, which stands before this file.

static inline float4 error4_of(float4 a, float4 b) {  // error_of, four at a time
    float4 d = fabs(a - b);
    d = select(d, (float4)INFINITY, isnan(d));
    return select(d, (float4)0.0f, isequal(a, b) | (isnan(a) & isnan(b)));
}

// Gives Σ (scale · (a − b))² as two floats, max |a − b|, and the number of the n values that differ, as the bits of one
// uint4 a group. Local: (256) or a smaller power of two. Global: any number of groups, whose items stride by fours.
__kernel void differences(__global const float *a, __global const float *b, __global uint4 *partial, ulong n,
                          float scale, __local float2 *sums, __local float *most, __local uint *counts) {
    size_t stride = get_global_size(0);
    int item = get_local_id(0);
    float4 sum = 0.0f, lost = 0.0f, worst = 0.0f;  // each lane takes every fourth value, as `add` does
    int4 count = 0;
    for (size_t i = get_global_id(0); i < (n + 3) / 4; i += stride) {
        size_t at = 4 * i;
        float4 d;
        if (at + 4 <= n) {
            d = error4_of(vload4(i, a), vload4(i, b));
        } else {
            d = (float4)(error_of(a[at], b[at]), at + 1 < n ? error_of(a[at + 1], b[at + 1]) : 0.0f,
                         at + 2 < n ? error_of(a[at + 2], b[at + 2]) : 0.0f, 0.0f);
        }
        float4 scaled = d * scale, x = scaled * scaled, s = sum + x, t = s - sum;
        lost += (sum - (s - t)) + (x - t);
        sum = s;
        worst = fmax(worst, d);
        count -= isgreater(d, (float4)0.0f);  // a true comparison of vectors is −1
    }
    float2 folded = add((float2)(sum.x, lost.x), (float2)(sum.y, lost.y));
    folded = add(folded, add((float2)(sum.z, lost.z), (float2)(sum.w, lost.w)));
    sums[item] = folded;
    most[item] = fmax(fmax(worst.x, worst.y), fmax(worst.z, worst.w));
    counts[item] = (uint)(count.x + count.y + count.z + count.w);
    fold_sums(sums);
    fold_most(most, counts);
    if (item == 0)
        partial[get_group_id(0)] = (uint4)(as_uint(sums[0].x), as_uint(sums[0].y), as_uint(most[0]), counts[0]);
}

// Gives |a − b| · gain, clipped to 1, for the planes that are colours; where a last plane is alpha, its difference
// shows in every colour. One work-item takes a pixel of a plane (dimension 0) and a colour (dimension 1).
__kernel void difference(__global const float *a, __global const float *b, __global float *out, int size,
                         int colours, int alpha, float gain) {
    int i = get_global_id(0), c = get_global_id(1);
    if (i >= size || c >= colours) return;
    size_t at = (size_t)c * size + i, last = (size_t)colours * size + i;
    float d = error_of(a[at], b[at]);
    if (alpha) d = fmax(d, error_of(a[last], b[last]));
    out[at] = d == 0.0f ? 0.0f : fmin(d * gain, 1.0f);
}

// Structural similarity (Z. Wang, A. Bovik, H. Sheikh, E. Simoncelli, IEEE Trans. Image Process. 13, 2004):
//   S = (2 μa μb + C1)(2 σab + C2) / ((μa² + μb² + C1)(σa² + σb² + C2))
// where means have a Gaussian window of 2·SSIM_RADIUS + 1 taps an axis, only where the window is inside the image.
// A group owns a tile of SSIM_ROWS × SSIM_COLUMNS results: it fetches the tile with its margin into local memory,
// convolves rows into five local planes (a, b, aa, bb, ab), then columns, and sums its results. A work-item makes
// four results side by side.
// Subtracting a constant does not change variances. The tile's first pixel is subtracted, because a bright flat area
// would otherwise lose them to cancellation.
// Local: (128) or a smaller power of two. Global: local × tiles of all planes. partial: two floats a group.
#define SSIM_RADIUS 5                                     // taps on each side of the middle
#define SSIM_TAPS (2 * SSIM_RADIUS + 1)                   // taps of the window along an axis
#define SSIM_ROWS 16                                      // rows of a tile's results
#define SSIM_COLUMNS 32                                   // columns of a tile's results
#define SSIM_IN_ROWS (SSIM_ROWS + SSIM_TAPS - 1)          // rows of pixels of a tile
#define SSIM_IN_COLUMNS (SSIM_COLUMNS + SSIM_TAPS - 1)    // columns of pixels of a tile
#define SSIM_PLANE (SSIM_IN_ROWS * SSIM_COLUMNS)          // values of a local plane

// The pair of values at i. Values that are equal but not finite become 0, so that they do not count.
static inline float2 pair_at(__global const float *a, __global const float *b, size_t i) {
    float x = a[i], y = b[i];
    return !isfinite(x) && error_of(x, y) == 0.0f ? (float2)(0.0f) : (float2)(x, y);
}

__kernel void ssim(__global const float *a, __global const float *b, __global const float *weights,
                   __global float2 *partial, int height, int width, float c1, float c2, __local float2 *sums) {
    __local float in_a[SSIM_IN_ROWS * SSIM_IN_COLUMNS], in_b[SSIM_IN_ROWS * SSIM_IN_COLUMNS];
    __local float means_a[SSIM_PLANE], means_b[SSIM_PLANE];
    __local float squares_a[SSIM_PLANE], squares_b[SSIM_PLANE], products[SSIM_PLANE];
    int item = get_local_id(0), items = get_local_size(0);
    int rows = height - SSIM_TAPS + 1, columns = width - SSIM_TAPS + 1;  // the numbers of results
    int across = (columns + SSIM_COLUMNS - 1) / SSIM_COLUMNS, down = (rows + SSIM_ROWS - 1) / SSIM_ROWS;
    int tile = get_group_id(0) % (across * down);
    int x0 = tile % across * SSIM_COLUMNS, y0 = tile / across * SSIM_ROWS;
    size_t plane = (size_t)(get_group_id(0) / (across * down)) * height * width;
    float2 base = pair_at(a, b, plane + (size_t)y0 * width + x0);

    for (int i = item; i < SSIM_IN_ROWS * SSIM_IN_COLUMNS; i += items) {
        // Beyond the image the last row and column stand in; no result that counts reads them.
        int y = min(y0 + i / SSIM_IN_COLUMNS, height - 1), x = min(x0 + i % SSIM_IN_COLUMNS, width - 1);
        float2 v = pair_at(a, b, plane + (size_t)y * width + x) - base;
        in_a[i] = v.x;
        in_b[i] = v.y;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < SSIM_PLANE / 4; i += items) {
        int at = i / (SSIM_COLUMNS / 4) * SSIM_IN_COLUMNS + i % (SSIM_COLUMNS / 4) * 4;
        float4 ma = 0.0f, mb = 0.0f, aa = 0.0f, bb = 0.0f, ab = 0.0f;
        for (int k = 0; k < SSIM_TAPS; k++) {
            float4 x = vload4(0, in_a + at + k), y = vload4(0, in_b + at + k);
            float4 wx = weights[k] * x, wy = weights[k] * y;
            ma += wx;
            mb += wy;
            aa = fma(wx, x, aa);
            bb = fma(wy, y, bb);
            ab = fma(wx, y, ab);
        }
        vstore4(ma, i, means_a);
        vstore4(mb, i, means_b);
        vstore4(aa, i, squares_a);
        vstore4(bb, i, squares_b);
        vstore4(ab, i, products);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float2 sum = 0.0f;
    for (int i = item; i < SSIM_ROWS * SSIM_COLUMNS / 4; i += items) {
        float4 ma = 0.0f, mb = 0.0f, aa = 0.0f, bb = 0.0f, ab = 0.0f;
        for (int k = 0; k < SSIM_TAPS; k++) {
            int at = i + k * (SSIM_COLUMNS / 4);
            float4 w = weights[k];
            ma = fma(w, vload4(at, means_a), ma);
            mb = fma(w, vload4(at, means_b), mb);
            aa = fma(w, vload4(at, squares_a), aa);
            bb = fma(w, vload4(at, squares_b), bb);
            ab = fma(w, vload4(at, products), ab);
        }
        float4 variances = aa - ma * ma + bb - mb * mb, covariance = ab - ma * mb;
        ma += base.x;
        mb += base.y;
        float4 s = (2.0f * ma * mb + c1) * (2.0f * covariance + c2) /
                   ((ma * ma + mb * mb + c1) * (variances + c2));
        int x = x0 + i % (SSIM_COLUMNS / 4) * 4;
        if (y0 + i / (SSIM_COLUMNS / 4) < rows) {
            sum = add(sum, (float2)(x < columns ? s.x : 0.0f, 0.0f));
            sum = add(sum, (float2)(x + 1 < columns ? s.y : 0.0f, 0.0f));
            sum = add(sum, (float2)(x + 2 < columns ? s.z : 0.0f, 0.0f));
            sum = add(sum, (float2)(x + 3 < columns ? s.w : 0.0f, 0.0f));
        }
    }
    sums[item] = sum;
    fold_sums(sums);
    if (item == 0) partial[get_group_id(0)] = sums[0];
}
