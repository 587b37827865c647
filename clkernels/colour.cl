// sRGB transfer functions (IEC 61966-2-1:1999), both odd-symmetric so that negative values survive. After lanes.cl.

static inline FLOAT srgb_to_linear(FLOAT v) {
    FLOAT a = fabs(v);
    return copysign(select(power((a + 0.055f) / 1.055f, 2.4f), a / 12.92f, a <= 0.04045f), v);
}

static inline FLOAT linear_to_srgb(FLOAT v) {
    FLOAT a = fabs(v);
    return copysign(select(1.055f * power(a, 1.0f / 2.4f) - 0.055f, a * 12.92f, a <= 0.0031308f), v);
}

// 255 · linear_to_srgb(x) for x of 0 … 1, within 3e-4: 1.055 · q^(5/3) by a Chebyshev fit in q = x^(1/4), which is
// half the time of power().
static inline FLOAT srgb_level(FLOAT x) {
    FLOAT q = sqrt(sqrt(x)), y = -18.351289f;
    y = fma(y, q, (FLOAT)95.965385f);
    y = fma(y, q, (FLOAT)-220.67439f);
    y = fma(y, q, (FLOAT)300.22073f);
    y = fma(y, q, (FLOAT)-290.24307f);
    y = fma(y, q, (FLOAT)371.24655f);
    y = fma(y, q, (FLOAT)31.756943f);
    y = fma(y, q, (FLOAT)-14.920920f);
    return select(y, x * (255.0f * 12.92f), x <= 0.0031308f);
}

// The rounded 8-bit sRGB codes of linear values 0 … 1, exactly: steps[c] is the value at which codes step up to c. Most
// values are so far from a step that the level's error does not matter: only the others are compared with it.
static inline INT srgb_code(FLOAT x, __global const float *steps) {
    FLOAT level = srgb_level(x) + 0.5f;
    INT code = TO_INT(level);
    FLOAT above = level - TO_FLOAT(code);
    INT below_step = above > 0.999f, near = below_step | (above < 0.001f);
    if (any_lane(near)) {
        code += one_if(below_step);  // the step in question is the one up to this
#if WIDTH == 1
        if (near) code -= x < steps[code];
#else
        int c[8];
        float s[8];
        vstore8(code, 0, c);
        for (int k = 0; k < 8; k++) s[k] = steps[c[k]];
        code -= one_if(near & (x < vload8(0, s)));
#endif
    }
    return code;
}
