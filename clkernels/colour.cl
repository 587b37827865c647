// sRGB transfer functions (IEC 61966-2-1:1999), both odd-symmetric so that negative values survive.
// Accuracy is powr's: at most 16 ulp, 2e-6 relative.

static inline float srgb_to_linear(float v) {
    float a = fabs(v);
    float x = a <= 0.04045f ? a / 12.92f : powr((a + 0.055f) / 1.055f, 2.4f);
    return copysign(x, v);
}

static inline float linear_to_srgb(float v) {
    float a = fabs(v);
    float x = a <= 0.0031308f ? a * 12.92f : 1.055f * powr(a, 1.0f / 2.4f) - 0.055f;
    return copysign(x, v);
}

// The rounded 8-bit sRGB code of a linear value, exactly: codes step up at 255 known values, never closer together
// than 1/4096, so that a bin of that width holds one step at most. bins[k] = (the step inside bin k or +Inf, the
// code below it). NaN and negative values give 0.
static inline int linear_to_srgb_code(float x, __global const float2 *bins) {
    float2 bin = bins[(int)(clamp(x, 0.0f, 0.9999f) * 4096.0f)];
    return isnan(x) ? 0 : (int)bin.y + (x >= bin.x);
}
