// Tone mapping operators: linear light after exposure to linear light for a display, where 1 is white.
// Each is a pure function of one pixel (of WIDTH pixels side by side, as in lanes.cl). Its input is within 0…2^60; its
// result is finite and not negative. p holds the operator's parameters, in the order of gpuops/params/tonemap.py. ACES
// and AgX are for Rec. 709's primaries; the others take those of which -D LUMINANCE=(r, g, b) gives the luminance.

typedef struct {
    FLOAT r, g, b;
} Colour;

static inline Colour colour(FLOAT r, FLOAT g, FLOAT b) {
    Colour c = {r, g, b};
    return c;
}

static inline Colour scaled(Colour c, FLOAT by) {
    return colour(c.r * by, c.g * by, c.b * by);
}

static inline Colour clamped(Colour c, float most) {
    return colour(clamp(c.r, 0.0f, most), clamp(c.g, 0.0f, most), clamp(c.b, 0.0f, most));
}

static inline FLOAT weighed(float3 by, Colour c) {
    return fma((FLOAT)by.x, c.r, fma((FLOAT)by.y, c.g, by.z * c.b));
}

static inline Colour transformed(float3 row_r, float3 row_g, float3 row_b, Colour c) {
    return colour(weighed(row_r, c), weighed(row_g, c), weighed(row_b, c));
}

#ifndef LUMINANCE
#define LUMINANCE (0.2126f, 0.7152f, 0.0722f)
#endif
static inline FLOAT luminance(Colour c) {
    return weighed((float3)LUMINANCE, c);
}

// Exposure alone changes the light.
static inline Colour op_linear(Colour c, float8 p) {
    return c;
}

// L' = L / (1 + L).
// Reinhard, Stark, Shirley, Ferwerda: Photographic Tone Reproduction for Digital Images, SIGGRAPH 2002, eq. 3.
static inline Colour op_reinhard(Colour c, float8 p) {
    return scaled(c, RECIP(1.0f + luminance(c)));
}

// The same for each channel: bright colours become white. The clamp removes the last bit by which a GPU's RECIP may
// exceed 1.
static inline Colour op_reinhard_channels(Colour c, float8 p) {
    return clamped(colour(c.r * RECIP(1.0f + c.r), c.g * RECIP(1.0f + c.g), c.b * RECIP(1.0f + c.b)), 1.0f);
}

// L' = L (1 + L / white²) / (1 + L): the same paper, eq. 4. p: 1 / white².
static inline FLOAT extended(FLOAT l, float p) {
    return fma(l, (FLOAT)p, (FLOAT)1.0f) * RECIP(1.0f + l);
}

static inline Colour op_reinhard_extended(Colour c, float8 p) {
    return scaled(c, extended(luminance(c), p.s0));
}

static inline Colour op_reinhard_extended_channels(Colour c, float8 p) {
    return colour(c.r * extended(c.r, p.s0), c.g * extended(c.g, p.s0), c.b * extended(c.b, p.s0));
}

// Reinhard, Devlin: Dynamic Range Reduction Inspired by Photoreceptor Physiology, IEEE TVCG 11(1), 2005, eqs. 1 … 8,
// without its final stretch to 0 … 1, as exposure is given:
//     V = I / (I + (f Ia)^m),   Ia = a (c I + (1 − c) L) + (1 − a) L̄,   f = e^−intensity
// where L̄ stands for the paper's c Ī + (1 − c) L̄ (Ī is the channel's mean), so that gray stays gray.
// p: m, f a c, f a (1 − c), f (1 − a) L̄ (1e-30 at least, so that black is not 0 / 0).
static inline FLOAT photoreceptor(FLOAT i, FLOAT adapted) {
    return clamp(i * RECIP(i + adapted), 0.0f, 1.0f);
}

static inline Colour op_reinhard_devlin(Colour c, float8 p) {
    FLOAT all = fma((FLOAT)p.s2, luminance(c), (FLOAT)p.s3), r = power(all, p.s0), g = r, b = r;
    if (p.s1 != 0.0f) {  // the channels adapt by themselves
        r = power(fma((FLOAT)p.s1, c.r, all), p.s0);
        g = power(fma((FLOAT)p.s1, c.g, all), p.s0);
        b = power(fma((FLOAT)p.s1, c.b, all), p.s0);
    }
    return colour(photoreceptor(c.r, r), photoreceptor(c.g, g), photoreceptor(c.b, b));
}

// x (2.51 x + 0.03) / (x (2.43 x + 0.59) + 0.14), cut at 1.
// Krzysztof Narkowicz: ACES Filmic Tone Mapping Curve, 2016.
static inline FLOAT narkowicz(FLOAT x) {
    return clamp(x * (2.51f * x + 0.03f) * RECIP(x * (2.43f * x + 0.59f) + 0.14f), 0.0f, 1.0f);
}

static inline Colour op_aces_narkowicz(Colour c, float8 p) {
    return colour(narkowicz(c.r), narkowicz(c.g), narkowicz(c.b));
}

// Stephen Hill's fit of the ACES reference rendering transform and the sRGB output transform, as published in
// Matt Pettineo's BakingLab (ACES.hlsl), 2016. The first matrix is sRGB → AP1 with the RRT's saturation, the second
// its counterpart back.
static inline FLOAT hill(FLOAT x) {
    return (x * (x + 0.0245786f) - 0.000090537f) * RECIP(x * (0.983729f * x + 0.4329510f) + 0.238081f);
}

static inline Colour op_aces_hill(Colour c, float8 p) {
    c = transformed((float3)(0.59719f, 0.35458f, 0.04823f), (float3)(0.07600f, 0.90834f, 0.01566f),
                    (float3)(0.02840f, 0.13383f, 0.83777f), c);
    c = colour(hill(c.r), hill(c.g), hill(c.b));
    c = transformed((float3)(1.60475f, -0.53108f, -0.07367f), (float3)(-0.10208f, 1.10813f, -0.00605f),
                    (float3)(-0.00327f, -0.07276f, 1.07602f), c);
    return clamped(c, 1.0f);
}

// AgX, Troy Sobotka 2022, in the variant with Rec. 2020 primaries that Blender 4, Filament and three.js use:
// Rec. 709 → Rec. 2020 → inset, log2 over −12.47393…4.026069, a sigmoid, a look, outset, power 2.2, → Rec. 709.
// The sigmoid is Benjamin Wrensch's polynomial of degree 6 (Minimal AgX Implementation, 2023),
//     15.5 x⁶ − 40.14 x⁵ + 31.96 x⁴ − 6.868 x³ + 0.4298 x² + 0.1191 x − 0.00232,
// divided by its value at 1, 0.99858: Sobotka's curve, which it approximates, maps 1 to 1, and so white light becomes
// white. It is evaluated about x = ½, where its terms are small: the same polynomial, without float32's cancellation
// near 1.
// docs/agx.py derives the numbers of AgX's functions from the published ones, and with --check compares the two.
static inline FLOAT agx_sigmoid(FLOAT x) {
    const float stops = 4.026069f + 12.47393f;
    FLOAT t = clamp(fma(LOG2(x), (FLOAT)(1.0f / stops), (FLOAT)(12.47393f / stops)), 0.0f, 1.0f) - 0.5f;  // log2(0): −∞
    FLOAT y = 15.522041f * t + 6.369044f;
    y = fma(y, t, -10.279597f);
    y = fma(y, t, -4.554467f);
    y = fma(y, t, 2.4274971f);
    y = fma(y, t, 1.7428749f);
    return fma(y, t, 0.291907f);
}

static inline Colour agx_base(Colour c) {
    // inset · (Rec. 709 → Rec. 2020): the published inset and the matrix of the primaries, multiplied beforehand
    c = transformed((float3)(0.54481477f, 0.3737874f, 0.081397854f),
                    (float3)(0.14041695f, 0.7541376f, 0.1054455f),
                    (float3)(0.08881042f, 0.17887175f, 0.7323178f), c);
    return colour(agx_sigmoid(c.r), agx_sigmoid(c.g), agx_sigmoid(c.b));
}

// An error of LOG2 counts p times in x^p, but only 0.2 times in x² x^0.2.
static inline FLOAT power_2_2(FLOAT x) {
    return x * x * power(x, 0.2f);
}

// Saturation, outset and Rec. 709's matrix magnify errors of the looks' powers, punchy's 12 times. So x^p is x times a
// polynomial of l = log2 x, without EXP2. The polynomial need only be accurate where x is not small: it is fitted for
// the smallest maximal error of the whole over 0 … 1, 8.1e-9 for 1.35 and 6.5e-9 for 0.8. The 1e-30 keeps the logarithm
// of 0 finite, and is lost in rounding where x^p matters.
static inline FLOAT finite_log2(FLOAT x) {
    return LOG2(x + 1e-30f);
}

static inline FLOAT power_1_35(FLOAT x) {
    x = clamp(x, 0.0f, 1.0f);
    FLOAT l = finite_log2(x);
    FLOAT y = fma(l, (FLOAT)7.484187e-11f, (FLOAT)6.1764527e-09f);
    y = fma(y, l, (FLOAT)2.488466e-07f);
    y = fma(y, l, (FLOAT)6.8173044e-06f);
    y = fma(y, l, (FLOAT)0.00014377222f);
    y = fma(y, l, (FLOAT)0.0023788635f);
    y = fma(y, l, (FLOAT)0.029427135f);
    y = fma(y, l, (FLOAT)0.24260138f);
    return fma(y, l, (FLOAT)1.0f) * x;
}

static inline FLOAT power_0_8(FLOAT x) {
    x = clamp(x, 0.0f, 1.0f);
    FLOAT l = finite_log2(x);
    FLOAT y = fma(l, (FLOAT)-4.4492493e-10f, (FLOAT)4.9758277e-09f);
    y = fma(y, l, (FLOAT)-4.6931274e-07f);
    y = fma(y, l, (FLOAT)1.5205737e-05f);
    y = fma(y, l, (FLOAT)-0.00044441287f);
    y = fma(y, l, (FLOAT)0.009608724f);
    y = fma(y, l, (FLOAT)-0.13862953f);
    return fma(y, l, (FLOAT)1.0f) * x;
}

// The outset's matrices below give half the outset, which is below 1, because GPUs clamp to 0 … 1 at no cost. The power
// then lacks a factor 2^2.2, which this matrix, Rec. 2020 → Rec. 709, contains. A factor 1 + 2^-21 makes up for rounding
// that would keep white below 1.
static inline Colour agx_rec709(Colour c) {
    c = transformed((float3)(7.6296167f, -2.700091f, -0.33473024f),
                    (float3)(-0.572284f, 5.2054434f, -0.03836389f),
                    (float3)(-0.08339905f, -0.4621395f, 5.140334f), c);
    return clamped(c, 1.0f);
}

static inline Colour op_agx(Colour c, float8 p) {
    c = agx_base(c);
    c = transformed((float3)(0.5635503f, -0.05530332f, -0.008246969f),
                    (float3)(-0.07066488f, 0.57891184f, -0.008246969f),
                    (float3)(-0.07066488f, -0.05530332f, 0.6259682f), c);
    c = clamped(c, 1.0f);
    return agx_rec709(colour(power_2_2(c.r), power_2_2(c.g), power_2_2(c.b)));
}

// A look is an ASC CDL on the base, with Wrensch's values: (slope · c)^power, then saturation s about Rec. 709's
// luminance. Saturation and outset are one matrix: s · outset + (1 − s) · (0.2126, 0.7152, 0.0722) in each row, as the
// outset keeps gray.
static inline Colour op_agx_punchy(Colour c, float8 p) {  // s 1.4
    c = agx_base(c);
    c = colour(power_1_35(c.r), power_1_35(c.g), power_1_35(c.b));
    c = transformed((float3)(0.7464504f, -0.22046465f, -0.025985757f),
                    (float3)(-0.14145084f, 0.6674366f, -0.025985757f),
                    (float3)(-0.14145084f, -0.22046465f, 0.86191547f), c);
    c = clamped(c, 1.0f);
    return agx_rec709(colour(power_2_2(c.r), power_2_2(c.g), power_2_2(c.b)));
}

static inline Colour op_agx_golden(Colour c, float8 p) {  // s 0.8
    c = agx_base(c);
    c = colour(power_0_8(c.r), power_0_8(0.9f * c.g), power_0_8(0.5f * c.b));
    c = transformed((float3)(0.47210023f, 0.027277343f, 0.00062242453f),
                    (float3)(-0.035271905f, 0.5346495f, 0.00062242453f),
                    (float3)(-0.035271905f, 0.027277343f, 0.5079946f), c);
    c = clamped(c, 1.0f);
    return agx_rec709(colour(power_2_2(c.r), power_2_2(c.g), power_2_2(c.b)));
}

// Khronos PBR Neutral Tone Mapper, specification of 2024, with its names: F90 0.04, Ks 0.8 − F90, Kd 0.15.
static inline Colour op_khronos_neutral(Colour c, float8 none) {
    const float ks = 0.76f, kd = 0.15f;
    FLOAT x = fmin(fmin(c.r, fmin(c.g, c.b)), 0.08f);
    FLOAT f = x - 6.25f * x * x;  // is 0.04 for x from 0.08 on
    FLOAT p = fmax(fmax(c.r, fmax(c.g, c.b)) - f, ks);  // below Ks nothing changes, as p = Ks gives pn = p and g = 1
    FLOAT pn = 1.0f - (1.0f - ks) * (1.0f - ks) * RECIP(p + 1.0f - 2.0f * ks);
    FLOAT g = RECIP(kd * (p - pn) + 1.0f);
    FLOAT factor = pn * g * RECIP(p), offset = pn - pn * g - f * factor;
    return clamped(colour(fma(c.r, factor, offset), fma(c.g, factor, offset), fma(c.b, factor, offset)), 1.0f);
}

// John Hable: Filmic Tonemapping Operators (Uncharted 2), 2010: f(2c) / f(white), where
//     f(x) = (x (A x + C B) + D E) / (x (A x + B) + D F) − E/F,   A .15, B .5, C .1, D .2, E .02, F .3
// is written over one denominator, so that black does not come from cancellation. p: 1 / f(white).
static inline FLOAT hable(FLOAT x) {
    return x * (0.14f * x + 0.05f / 3.0f) * RECIP(x * (0.15f * x + 0.5f) + 0.06f);
}

static inline Colour op_hable(Colour c, float8 p) {
    return scaled(colour(hable(2.0f * c.r), hable(2.0f * c.g), hable(2.0f * c.b)), (FLOAT)p.s0);
}

// Drago, Myszkowski, Annen, Chiba: Adaptive Logarithmic Mapping For Displaying High Contrast Scenes, Eurographics
// 2003, eq. 4 with bias 0.85 and a display of 100 cd/m²:
//     L' = ln(L + 1) / (log10(Lmax + 1) · ln(2 + 8 (L / Lmax)^(ln 0.85 / ln 0.5)))
// The paper's L is 1 at the luminance that the eye is adapted to; exposure has brought that to 0.18.
// p: 1 / Lmax, ln bias / ln 0.5, 1 / (0.18 ln 2 · log10(Lmax / 0.18 + 1)), where L and Lmax are luminances after
// exposure. log1p_over gives ln(1 + x) / x for x ≥ 0; up to 0.25 by a polynomial, as logarithms near 1 have few digits.
static inline FLOAT log1p_over(FLOAT x) {
    FLOAT near = fma(x, (FLOAT)-0.09238353f, (FLOAT)0.1817312f);
    near = fma(near, x, (FLOAT)-0.247786016f);
    near = fma(near, x, (FLOAT)0.333208687f);
    near = fma(near, x, (FLOAT)-0.499997398f);
    near = fma(near, x, (FLOAT)1.0f);
    return select(LOG2(1.0f + x) * (float)M_LN2_F * RECIP(x), near, x < 0.25f);
}

static inline Colour op_drago(Colour c, float8 p) {
    FLOAT y = luminance(c);
    FLOAT base = LOG2(fma((FLOAT)8.0f, power(y * p.s0, p.s1), (FLOAT)2.0f));
    return scaled(c, log1p_over(y * (1.0f / 0.18f)) * p.s2 * RECIP(base));
}

// 1 / (1 + (k / x)^contrast), a logistic curve of log x, with k such that 0.18 stays 0.18: Naka and Rushton's response
// of 1966, as in the sigmoid of darktable 4 (2022) without its skew. p: contrast, contrast · log2 k.
static inline FLOAT log_logistic(FLOAT x, float8 p) {
    return RECIP(1.0f + EXP2(fma((FLOAT)-p.s0, LOG2(x), (FLOAT)p.s1)));
}

static inline Colour op_sigmoid(Colour c, float8 p) {
    return colour(log_logistic(c.r, p), log_logistic(c.g, p), log_logistic(c.b, p));
}
