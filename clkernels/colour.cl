// sRGB transfer functions (IEC 61966-2-1:1999), both odd-symmetric so that negative values survive. After lanes.cl.

static inline FLOAT srgb_to_linear(FLOAT v) {
    FLOAT a = fabs(v);
    return copysign(select(power((a + 0.055f) / 1.055f, 2.4f), a / 12.92f, a <= 0.04045f), v);
}

static inline FLOAT linear_to_srgb(FLOAT v) {
    FLOAT a = fabs(v);
    return copysign(select(1.055f * power(a, 1.0f / 2.4f) - 0.055f, a * 12.92f, a <= 0.0031308f), v);
}

// The rounded 8-bit sRGB code of a linear value, exactly: codes step up at 255 known values, never closer together
// than 1/4096, so that a bin of that width holds one step at most. bins[k] = (the step inside bin k or +Inf, the
// code below it). NaN and negative values give 0.
static inline int linear_to_srgb_code(float x, __global const float2 *bins) {
    float2 bin = bins[(int)(fmin(fmax(x, 0.0f), 0.9999f) * 4096.0f)];  // not clamp: of NaN that may be anything
    return isnan(x) ? 0 : (int)bin.y + (fmin(x, 1.0f) >= bin.x);        // an infinity is not beyond that of a bin
}
