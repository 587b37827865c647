// Bloom makes part of each pixel glow, and lays the glow over the image. Planes are float (channel, row, column),
// colours premultiplied by alpha; "light" below is the part of the pixel that glows, every plane by the same factor.
//
// A soft knee around a threshold T with half-width K takes the brightest colour b (a quadratic that meets the straight
// line b − T with its slope at T + K; widely used, described in Unity's post-processing manual under Bloom):
//   share = max(clamp(b − T + K, 0, 2K)² / 4K, b − T) / b             without a threshold: 1
// A pixel with a NaN or an infinity in any plane has no light; in the result it becomes 0 or ±65504 (largest half).
// Light is clamped to ±1e28 so that no sum with it overflows.
//
// -D CHANNELS=n   is the number of planes of a pixel
// -D COLOURS=n    is the number of planes that are not alpha
// -D WIDE         takes 16 pixels in a vector (pixels_t) rather than one
// -D BOUNDED      promises that finite light is below LARGEST_LIGHT

#ifdef WIDE
typedef float16 pixels_t;
typedef int16 mask_t;
#else
typedef float pixels_t;
typedef int mask_t;
#endif

#define LARGEST_HALF 65504.0f  // the largest finite half float
#define LARGEST_LIGHT 1e28f    // sums of so much light are finite

static inline mask_t all_finite(const pixels_t *v) {
#ifdef BOUNDED
    pixels_t sum = v[0];
    for (int c = 1; c < CHANNELS; c++) sum += v[c];
    return isfinite(sum);
#else
    mask_t finite = isfinite(v[0]);
    for (int c = 1; c < CHANNELS; c++) finite &= isfinite(v[c]);
    return finite;
#endif
}

// Replaces pixels v by their light; knee = (T, K). Returns which pixels were finite.
static inline mask_t to_light(pixels_t *v, float2 knee) {
    mask_t finite = all_finite(v);
    for (int c = 0; c < CHANNELS; c++) {
        pixels_t light = v[c];
#ifndef BOUNDED
        light = clamp(light, (pixels_t)-LARGEST_LIGHT, (pixels_t)LARGEST_LIGHT);
#endif
        v[c] = select((pixels_t)0.0f, light, finite);
    }
    if (knee.x > 0.0f) {
        pixels_t bright = v[0];
        for (int c = 1; c < COLOURS; c++) bright = fmax(bright, v[c]);
        bright = fmax(bright, (pixels_t)0.0f);
        pixels_t over = bright - knee.x;
        pixels_t soft = clamp(over + knee.y, (pixels_t)0.0f, (pixels_t)(2.0f * knee.y));
        soft *= soft * (knee.y > 0.0f ? 0.25f / knee.y : 0.0f);
        pixels_t share = fmax(soft, over) / fmax(bright, (pixels_t)1e-20f);
        for (int c = 0; c < CHANNELS; c++) v[c] *= share;
    }
    return finite;
}

static inline pixels_t to_finite(pixels_t v) {
    pixels_t cut = select(clamp(v, (pixels_t)-LARGEST_HALF, (pixels_t)LARGEST_HALF), (pixels_t)0.0f, isnan(v));
    return select(cut, v, isfinite(v));
}

// Gives a plane of the result from the image's finite value and what the glow adds (or takes, where light moved away).
// Alpha gains the glow's coverage up to 1 and never loses any: an opaque image stays opaque.
static inline pixels_t lay_over(pixels_t v, pixels_t added, int channel) {
    if (channel >= COLOURS) added = clamp(added, (pixels_t)0.0f, fmax(1.0f - v, (pixels_t)0.0f));
    return v + added;
}

#ifndef WIDE
// Gives the light of every pixel. Global: (pixels); groups may have any size.
__kernel void light(__global const float *image, __global float *out, int size, float2 knee) {
    int i = get_global_id(0);
    if (i >= size) return;
    float v[CHANNELS];
    for (int c = 0; c < CHANNELS; c++) v[c] = image[(size_t)c * size + i];
    to_light(v, knee);
    for (int c = 0; c < CHANNELS; c++) out[(size_t)c * size + i] = v[c];
}

// Computes sum += share · in. Global: (values); groups may have any size.
__kernel void accumulate(__global const float *in, __global float *sum, ulong size, float share) {
    size_t i = get_global_id(0);
    if (i < size) sum[i] = fma(share, in[i], sum[i]);
}

// Computes image + own · light + scale · glow; not_finite[0] counts pixels. Global: (pixels); groups may have any size.
__kernel void composite(__global const float *image, __global const float *glow, __global float *out,
                        __global uint *not_finite, int size, float2 knee, float own, float scale) {
    int i = get_global_id(0);
    if (i >= size) return;
    float v[CHANNELS];
    for (int c = 0; c < CHANNELS; c++) v[c] = image[(size_t)c * size + i];
    if (!to_light(v, knee)) atomic_inc(not_finite);
    for (int c = 0; c < CHANNELS; c++) {
        size_t at = (size_t)c * size + i;
        out[at] = lay_over(to_finite(image[at]), own * v[c] + scale * glow[at], c);
    }
}
#else
// Counts the pixels that are not finite among `size` ones, from the pixel `first` of planes of `plane` pixels on. A
// work-item looks at 16. Global: (ceil(size / 16)); groups may have any size.
__kernel void count(__global const float *image, __global uint *not_finite, ulong first, ulong plane, int size) {
    int i = get_global_id(0) * 16, here = min(16, size - i);
    if (here <= 0) return;
    image += first + i;
    float16 large = 0.0f;  // NaN and infinity are not at most FLT_MAX
    for (int c = 0; c < CHANNELS; c++) {
        float s[16];
        for (int k = 0; k < 16; k++) s[k] = k < here ? image[c * plane + k] : 0.0f;
        float16 v = here == 16 ? vload16(0, image + c * plane) : vload16(0, s);
        large = select((float16)INFINITY, fmax(large, fabs(v)), fabs(v) <= FLT_MAX);
    }
    if (all(large <= FLT_MAX)) return;
    float lanes[16];
    vstore16(large, 0, lanes);
    uint bad = 0;
    for (int k = 0; k < 16; k++) bad += !(lanes[k] <= FLT_MAX);
    atomic_add(not_finite, bad);
}
#endif
