// sRGB transfer functions (IEC 61966-2-1:1999), both odd-symmetric so that negative values survive. After lanes.cl.

static inline FLOAT srgb_to_linear(FLOAT v) {
    FLOAT a = fabs(v);
    return copysign(select(power((a + 0.055f) / 1.055f, 2.4f), a / 12.92f, a <= 0.04045f), v);
}

static inline FLOAT linear_to_srgb(FLOAT v) {
    FLOAT a = fabs(v);
    return copysign(select(1.055f * power(a, 1.0f / 2.4f) - 0.055f, a * 12.92f, a <= 0.0031308f), v);
}

// The rounded 8-bit sRGB codes of linear values 0 … 1, exactly: codes step up at 255 known values, never closer together
// than 1/4096, so that a bin of that width holds one step at most. bins[k] = (the step inside bin k or +Inf, the
// code below it).
static inline INT linear_to_srgb_code(FLOAT x, __global const float2 *bins) {
    INT i = TO_INT(select((FLOAT)0.9999f, x, x < (FLOAT)0.9999f) * 4096.0f);
#if WIDTH == 1
    FLOAT step = bins[i].x, below = bins[i].y;
#else
    float2 a = bins[i.s0], b = bins[i.s1], c = bins[i.s2], d = bins[i.s3];
    float2 e = bins[i.s4], f = bins[i.s5], g = bins[i.s6], h = bins[i.s7];
    FLOAT step = (FLOAT)(a.x, b.x, c.x, d.x, e.x, f.x, g.x, h.x);
    FLOAT below = (FLOAT)(a.y, b.y, c.y, d.y, e.y, f.y, g.y, h.y);
#endif
    return TO_INT(below) + one_if(x >= step);
}
