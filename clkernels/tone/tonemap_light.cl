// Exposure and operator: scene light to display light, where 1 is white. The file stands after lanes.cl and
// tonemap_operators.cl.
//
// NaN and negative light become 0; infinite light and all above 2^60 become 2^60: the result is always finite.
// Gray goes in as R = G = B, and its result is the luminance. Alpha is not touched.
//
// -D BALANCE        multiplies by a white balance matrix first (gpuops/tone/white_balance.py); negative results are 0
// -D KEEP_HUE       mixes colours beyond 1 with gray of their luminance until they are 1: the straight line to white in
//                   a chromaticity diagram, which keeps the dominant wavelength. Otherwise they stay beyond 1.
// -D OPERATOR=op_x  is the operator; without it there are only the repairs
// -D LUT            says that the operator is lut.cl's, which takes a table
// -D COLOURS=1|3    is the number of channels that are not alpha

#define BRIGHTEST 0x1p60f  // the largest light after exposure

// The largest light whose product with the exposure is at most BRIGHTEST.
static inline float most_light(float exposure) {
#ifdef BALANCE
    return fmin(BRIGHTEST / exposure, 0x1p104f);  // keeps sums finite: the matrix's numbers are below 2^20
#else
    return fmin(BRIGHTEST / exposure, FLT_MAX);
#endif
}

// Says which pixels need no repair: their colours are neither negative nor NaN, and at most `most`, given by its bits.
static inline INT ordinary(const FLOAT *v, uint most) {
    INT all = AS_UINT(v[0]) <= (UINT)most;  // the bits of floats from 0 on have the order of the floats
    for (int c = 1; c < COLOURS; c++) all &= AS_UINT(v[c]) <= (UINT)most;
    return all;
}

static inline INT any_negative(const FLOAT *v) {
    INT negative = v[0] < 0.0f;
    for (int c = 1; c < COLOURS; c++) negative |= v[c] < 0.0f;
    return negative;
}

// Counts the repairs of the first `count` lanes in counted[0 … 2], as `repaired` of tonemap.cl.
static inline void count_repairs(const FLOAT *v, int count, __local uint *counted) {
    INT nan = isnan(v[0]), infinite = isinf(v[0]), negative = any_negative(v);
    for (int c = 1; c < COLOURS; c++) nan |= isnan(v[c]), infinite |= isinf(v[c]);
    for (int k = 0; k < count; k++) {
        int kind = int_lane(nan, k) ? 0 : int_lane(infinite, k) ? 1 : int_lane(negative, k) ? 2 : 3;
        if (kind < 3) atomic_inc(&counted[kind]);
    }
}

// Makes the colours of any pixel ordinary, in place.
static inline void repair(FLOAT *v, float most) {
    for (int c = 0; c < COLOURS; c++) v[c] = fmin(fmax(v[c], 0.0f), most);  // fmax(NaN, 0) is 0
}

#ifdef BALANCE
// Multiplies an ordinary pixel by the matrix m, whose rows follow one another, in place. It stays ordinary.
static inline void balance(FLOAT *v, float16 m, float most) {
    FLOAT r = v[0], g = v[1], b = v[2];
    v[0] = clamp(fma((FLOAT)m.s0, r, fma((FLOAT)m.s1, g, m.s2 * b)), 0.0f, most);
    v[1] = clamp(fma((FLOAT)m.s3, r, fma((FLOAT)m.s4, g, m.s5 * b)), 0.0f, most);
    v[2] = clamp(fma((FLOAT)m.s6, r, fma((FLOAT)m.s7, g, m.s8 * b)), 0.0f, most);
}
#endif

#ifdef OPERATOR
static inline Colour operated(Colour c, float8 p, __global const float4 *lut) {
#ifdef LUT
    return OPERATOR(c, lut);
#else
    return OPERATOR(c, p);
#endif
}

#ifdef KEEP_HUE
static inline Colour hue_kept(Colour c) {
    FLOAT y = fmin(luminance(c), 1.0f), most = fmax(c.r, fmax(c.g, c.b));
    FLOAT share = clamp((1.0f - y) * RECIP(fmax(most - y, 1e-6f)), 0.0f, 1.0f);
    return clamped(colour(fma(share, c.r - y, y), fma(share, c.g - y, y), fma(share, c.b - y, y)), 1.0f);
}
#endif

// Exposes an ordinary pixel's colours and applies the operator, in place.
static inline void displayed(FLOAT *v, FLOAT exposure, float8 p, __global const float4 *lut) {
#if COLOURS == 1
    FLOAT gray = v[0] * exposure;
    Colour c = colour(gray, gray, gray);
    c = operated(c, p, lut);
    v[0] = luminance(c);
#else
    Colour c = operated(colour(v[0] * exposure, v[1] * exposure, v[2] * exposure), p, lut);
#ifdef KEEP_HUE
    c = hue_kept(c);
#endif
    v[0] = c.r, v[1] = c.g, v[2] = c.b;
#endif
}
#endif
