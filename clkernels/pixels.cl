// Between a file's interleaved pixels (height, width, CHANNELS) of type PIXEL and planar float (channel, pixel).
//
// -D PIXEL=uchar|ushort|half|float   -D CHANNELS=n   -D COLOURS=n (channels that are not alpha)
// -D HALF                 PIXEL is half: read and written by vload_half and vstore_half, which need no extension
// -D TABLE                sRGB by table: code -> linear (unpack), thresholds of the codes (pack to uchar)
// -D LINEARISE, ENCODE    sRGB by its formula
// -D PREMULTIPLY, UNPREMULTIPLY    colours times, or over, alpha
// -D MAXIMUM=255|65535    integer PIXEL: its largest value
// One work-item a pixel (unpack) or several pixels (pack); any group size.

#ifdef HALF
#define LOAD(p, i) vload_half(i, p)
#else
#define LOAD(p, i) ((float)(p)[i])
#endif

#if defined(LINEARISE)
#define CURVE(v) srgb_to_linear(v)
#elif defined(ENCODE)
#define CURVE(v) linear_to_srgb(v)
#else
#define CURVE(v) (v)
#endif

__kernel void unpack(__global const PIXEL *pixels, __global const float *table, __global float *planes,
                     int size, float scale) {
    int i = get_global_id(0);
    if (i >= size) return;
    size_t at = (size_t)i * CHANNELS;
    float v[CHANNELS];
    for (int c = 0; c < CHANNELS; c++) {
#ifdef TABLE
        v[c] = c < COLOURS ? table[pixels[at + c]] : LOAD(pixels, at + c) * scale;
#else
        v[c] = LOAD(pixels, at + c) * scale;
#endif
        if (c < COLOURS) v[c] = CURVE(v[c]);
    }
    for (int c = 0; c < CHANNELS; c++) {
#ifdef PREMULTIPLY
        if (c < COLOURS) v[c] *= v[CHANNELS - 1];
#endif
        planes[(size_t)c * size + i] = v[c];
    }
}

// lost[0] counts finite values that did not fit the type, lost[1] those that were not finite.
__kernel void pack(__global const float *planes, __global const float2 *bins, __global PIXEL *pixels,
                   __global uint *lost, int size) {
    uint clipped = 0, not_finite = 0;
    for (size_t i = get_global_id(0); i < (size_t)size; i += get_global_size(0)) {
#ifdef UNPREMULTIPLY
        float alpha = planes[(size_t)(CHANNELS - 1) * size + i];
        float over = alpha > 0.0f ? 1.0f / alpha : 1.0f;
#endif
        for (int c = 0; c < CHANNELS; c++) {
            float v = planes[(size_t)c * size + i];
            size_t at = i * CHANNELS + c;
            int colour = c < COLOURS;
#ifdef UNPREMULTIPLY
            if (colour) v *= over;
#endif
#ifdef MAXIMUM
            not_finite += !isfinite(v);
#ifdef TABLE
            if (colour) {
                // A value is clipped when rounding would leave the range, not for a rounding error's sake.
                clipped += isfinite(v) && (v < -0.5f / (255.0f * 12.92f) || v > 1.0045f);
                pixels[at] = (PIXEL)linear_to_srgb_code(v, bins);
                continue;
            }
#endif
            if (colour) v = CURVE(v);
            float level = v * (float)MAXIMUM;
            clipped += isfinite(v) && (level < -0.5f || level > (float)MAXIMUM + 0.5f);
            level = isnan(level) ? 0.0f : clamp(level, 0.0f, (float)MAXIMUM);
            pixels[at] = (PIXEL)rint(level);
#else
            if (colour) v = CURVE(v);
#ifdef HALF
            clipped += isfinite(v) && fabs(v) > 65504.0f;
            if (isfinite(v)) v = clamp(v, -65504.0f, 65504.0f);
            vstore_half_rte(v, at, pixels);
#else
            pixels[at] = v;
#endif
#endif
        }
    }
    if (clipped) atomic_add(&lost[0], clipped);
    if (not_finite) atomic_add(&lost[1], not_finite);
}
