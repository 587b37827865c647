// The effects of the Direct3D 11 sample HDRToneMappingCS11 (Microsoft, 2008–2010), with its constants. Its metering is
// reduce.cl's tiles with Rec. 601 weights. Arithmetic on NaN follows Direct3D: max(NaN, 0) and saturate(NaN) are 0.
// Images are planar (colours[, alpha]). One work-item takes a pixel; groups may have any size unless a kernel says
// otherwise.
//
// -D COLOURS=1|3   is the number of planes that are not alpha

#define MIDDLE_GRAY 0.72f        // the gray to which the mean luminance is mapped
#define LUMINANCE_WHITE 1.5f     // the scale of the tone curve's shoulder
#define BRIGHT_THRESHOLD 0.5f    // light below it does not glow
#define BLOOM_STRENGTH 0.6f      // the factor of the bloom in the final picture
#define LARGEST_HALF 65504.0f    // the largest finite half float
#define TAPS 15                  // taps of the blur along an axis
#define HALF_TAPS 7              // taps on each side of the middle

// Replaces NaN by 0, and an infinity by the largest half float. Global: (count).
__kernel void repair(__global const float *in, __global float *out, ulong count) {
    size_t i = get_global_id(0);
    if (i >= count) return;
    float v = in[i];
    out[i] = isnan(v) ? 0.0f : isinf(v) ? copysign(LARGEST_HALF, v) : v;
}

static inline float mapped(float c, float luminance) {
    c *= MIDDLE_GRAY / (luminance + 0.001f);
    c *= 1.0f + c / LUMINANCE_WHITE;
    return c / (1.0f + c);
}

static inline float unit_range(float c) {
    return fmin(fmax(c, 0.0f), 1.0f);
}

// Blurs with 15 taps along one axis, edges repeated. A stack of planes is seen as `lines` lines of n samples that lie
// `inner` apart in memory; inner is 1 for rows, the width for columns. Lines from `of_colour` on belong to alpha: their
// results are multiplied by `normal`, 1 over the weights' sum. Global: dimension 0 along the lines, dimension 1 over
// them.
//
// -D BRIGHT    takes the samples of rows from the bright pass, as the sample does in the same dispatch: of every eighth
//              pixel of every eighth row of an image (height, width) the light above the threshold, tone-mapped, which is
//              not rounded. Beyond the ends there are further pixels of that image, as far as it goes.
// -D TO_BYTES  stores results with 8 bits, 0 … 1

static inline size_t line_start(int line, int n, int inner) {
    return (size_t)(line / inner) * n * inner + line % inner;
}

static inline float sample(__global const float *in, int line, int i, int n, int inner, int width, int height,
                           float luminance) {
#ifdef BRIGHT
    int rows = height / 8;
    size_t row = (size_t)(line / rows) * height + 8 * (line % rows) + 3;
    return mapped(fmax(in[row * width + clamp(8 * i + 4, 0, width - 1)] - BRIGHT_THRESHOLD, 0.0f), luminance);
#else
    return in[line_start(line, n, inner) + (size_t)clamp(i, 0, n - 1) * inner];
#endif
}

static inline void put(__global float *out, float sum, int line, int i, int n, int inner, int of_colour, float normal) {
    if (line >= of_colour) sum *= normal;
#ifdef TO_BYTES
    sum = rint(unit_range(sum) * 255.0f) / 255.0f;
#endif
    out[line_start(line, n, inner) + (size_t)i * inner] = sum;
}

__kernel void blur_direct(__global const float *in, __constant float *weights, __global float *out, int lines, int n,
                          int inner, int of_colour, float normal, int width, int height, float luminance) {
    int i = get_global_id(0), line = get_global_id(1);
    if (i >= n || line >= lines) return;
    float sum = 0.0f;
    for (int k = 0; k < TAPS; k++)
        sum = fma(weights[k], sample(in, line, i + k - HALF_TAPS, n, inner, width, height, luminance), sum);
    put(out, sum, line, i, n, inner, of_colour, normal);
}

// Does the same through local memory, as in the sample: a group of (128) work-items fetches one sample each, and all
// but the outer 7 at either end give a result (114). Local: (items, 1), items > 14; tile: that many floats.
__kernel void blur_local(__global const float *in, __constant float *weights, __global float *out, int lines, int n,
                         int inner, int of_colour, float normal, int width, int height, float luminance,
                         __local float *tile) {
    int item = get_local_id(0), results = (int)get_local_size(0) - 2 * HALF_TAPS;
    int i = (int)get_group_id(0) * results + item - HALF_TAPS, line = get_global_id(1);
    tile[item] = sample(in, line, i, n, inner, width, height, luminance);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item >= HALF_TAPS && item < HALF_TAPS + results && i < n) {
        float sum = 0.0f;
        for (int k = 0; k < TAPS; k++) sum = fma(weights[k], tile[item + k - HALF_TAPS], sum);
        put(out, sum, line, i, n, inner, of_colour, normal);
    }
}

// Gives a bilinear sample at (u, v), where the image is 0…1 wide and high; edges are repeated.
static inline float bilinear(__global const float *image, int width, int height, float u, float v) {
    float x = clamp(u * (float)width - 0.5f, 0.0f, (float)(width - 1));
    float y = clamp(v * (float)height - 0.5f, 0.0f, (float)(height - 1));
    int x0 = (int)x, x1 = min(x0 + 1, width - 1), y1 = min((int)y + 1, height - 1);
    __global const float *top = image + (size_t)(int)y * width, *bottom = image + (size_t)y1 * width;
    return mix(mix(top[x0], top[x1], x - x0), mix(bottom[x0], bottom[x1], x - x0), y - floor(y));
}

// Gives the scene plus 0.6 × the bloom; with -D TONEMAP the scene's straight colours are tone-mapped first, and the sum
// is clamped to 0…1. With -D ALPHA, alpha is copied, and colours are premultiplied by it, before and after. If
// small_width is 0, there is no bloom. Global: (width, height).
__kernel void final_pass(__global const float *in, __global const float *bloom, __global float *out, int width,
                         int height, int small_width, int small_height, float luminance) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    size_t i = (size_t)y * width + x, plane = (size_t)width * height;
    float alpha = 1.0f;
#ifdef ALPHA
    alpha = in[COLOURS * plane + i];
    out[COLOURS * plane + i] = alpha;
#endif
    for (int c = 0; c < COLOURS; c++) {
        float light = in[c * plane + i], glow = 0.0f;
        if (small_width > 0)
            glow = bilinear(bloom + (size_t)c * small_width * small_height, small_width, small_height,
                            ((float)x + 0.5f) / (float)width, ((float)y + 0.5f) / (float)height);
#ifdef TONEMAP
        if (alpha > 0.0f) light /= alpha;
        out[c * plane + i] = alpha * unit_range(mapped(light, luminance) + BLOOM_STRENGTH * glow);
#else
        out[c * plane + i] = light + BLOOM_STRENGTH * glow;
#endif
    }
}
