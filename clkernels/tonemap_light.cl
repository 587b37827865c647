// Exposure and operator: light → light for a display, where 1 is white. After lanes.cl and tonemap_operators.cl.
//
// NaN and negative light become 0, infinite light 2^60, as does all beyond it: the result is always finite.
// Gray is R = G = B, and the luminance of the result. Alpha is not touched.
//
// -D OPERATOR=op_x   -D COLOURS=1|3

#define BRIGHTEST 0x1p60f

static inline FLOAT repair(FLOAT v, float exposure) {
    return fmin(fmax(v, 0.0f) * exposure, BRIGHTEST);  // fmax(NaN, 0) is 0
}

static inline INT any_negative(const FLOAT *v) {
    INT negative = v[0] < 0.0f;
    for (int c = 1; c < COLOURS; c++) negative |= v[c] < 0.0f;
    return negative;
}

// The colours of a pixel whose light is finite, not negative and at most BRIGHTEST after exposure, in place.
static inline void displayed(FLOAT *v, float exposure, float white) {
#if COLOURS == 1
    FLOAT gray = v[0] * exposure;
    Colour c = colour(gray, gray, gray);
    c = OPERATOR(c, white);
    v[0] = luminance709(c);
#else
    Colour c = OPERATOR(colour(v[0] * exposure, v[1] * exposure, v[2] * exposure), white);
    v[0] = c.r, v[1] = c.g, v[2] = c.b;
#endif
}

// The colours of any pixel, in place.
static inline void tonemapped(FLOAT *v, float exposure, float white) {
    for (int c = 0; c < COLOURS; c++) v[c] = repair(v[c], exposure);
    displayed(v, 1.0f, white);
}
