// Tone mapping operators: linear Rec. 709 light after exposure → linear light for a display, where 1 is white.
// Each is a pure function of one pixel. Its input is finite, 0…2^60; its result is finite and not negative.
// `white` is the luminance that becomes white, for those that have such a point.

static inline float luminance709(float3 c) {
    return fma(0.2126f, c.x, fma(0.7152f, c.y, 0.0722f * c.z));
}

// rows · c
static inline float3 transformed(float3 x, float3 y, float3 z, float3 c) {
    return (float3)(dot(x, c), dot(y, c), dot(z, c));
}

// Exposure alone.
static inline float3 op_linear(float3 c, float white) {
    return c;
}

// L' = L / (1 + L).
// Reinhard, Stark, Shirley, Ferwerda: Photographic Tone Reproduction for Digital Images, SIGGRAPH 2002, eq. 3.
static inline float3 op_reinhard(float3 c, float white) {
    return c / (1.0f + luminance709(c));
}

// L' = L (1 + L / white²) / (1 + L): the same paper, eq. 4.
static inline float3 op_reinhard_extended(float3 c, float white) {
    float l = luminance709(c);
    return c * ((1.0f + l / (white * white)) / (1.0f + l));
}

// x (2.51 x + 0.03) / (x (2.43 x + 0.59) + 0.14), cut at 1.
// Krzysztof Narkowicz: ACES Filmic Tone Mapping Curve, 2016.
static inline float3 op_aces_narkowicz(float3 c, float white) {
    return fmin(c * (2.51f * c + 0.03f) / (c * (2.43f * c + 0.59f) + 0.14f), 1.0f);
}

// Stephen Hill's fit of the ACES reference rendering transform and the sRGB output transform, as published in
// Matt Pettineo's BakingLab (ACES.hlsl), 2016. The first matrix is sRGB → AP1 with the RRT's saturation, the second
// its counterpart back.
static inline float3 op_aces_hill(float3 c, float white) {
    c = transformed((float3)(0.59719f, 0.35458f, 0.04823f), (float3)(0.07600f, 0.90834f, 0.01566f),
                    (float3)(0.02840f, 0.13383f, 0.83777f), c);
    c = (c * (c + 0.0245786f) - 0.000090537f) / (c * (0.983729f * c + 0.4329510f) + 0.238081f);
    c = transformed((float3)(1.60475f, -0.53108f, -0.07367f), (float3)(-0.10208f, 1.10813f, -0.00605f),
                    (float3)(-0.00327f, -0.07276f, 1.07602f), c);
    return clamp(c, 0.0f, 1.0f);
}

// AgX, Troy Sobotka 2022, in the variant with Rec. 2020 primaries that Blender 4, Filament and three.js use:
// Rec. 709 → Rec. 2020 → inset, log2 over −12.47393…4.026069, a sigmoid, a look, outset, power 2.2, → Rec. 709.
// The sigmoid is Benjamin Wrensch's polynomial of degree 6 (Minimal AgX Implementation, 2023):
//     15.5 x⁶ − 40.14 x⁵ + 31.96 x⁴ − 6.868 x³ + 0.4298 x² + 0.1191 x − 0.00232
// evaluated about x = ½, where its terms are small: the same polynomial, without float32's cancellation near 1.
// A look is an ASC CDL (slope, power, saturation; no offset) on the sigmoid's result, as published there.
static inline float3 agx(float3 c, float3 slope, float power, float saturation) {
    // inset · (Rec. 709 → Rec. 2020), both from published values, multiplied in double precision
    c = transformed((float3)(0.54481475f, 0.3737874f, 0.08139786f), (float3)(0.14041695f, 0.75413755f, 0.1054455f),
                    (float3)(0.08881042f, 0.17887176f, 0.73231782f), c);
    float3 t = clamp((log2(fmax(c, 1e-10f)) + 12.47393f) / (4.026069f + 12.47393f), 0.0f, 1.0f) - 0.5f;
    c = 15.5f * t + 6.36f;
    c = fma(c, t, -10.265f);
    c = fma(c, t, -4.548f);
    c = fma(c, t, 2.42405f);
    c = fma(c, t, 1.7404f);
    c = fma(c, t, 0.2914925f);
    if (saturation != 1.0f) {
        c = powr(fmax(c * slope, 0.0f), power);
        c = luminance709(c) + saturation * (c - luminance709(c));
    }
    c = transformed((float3)(1.1271006f, -0.11060664f, -0.016493939f), (float3)(-0.14132977f, 1.1578237f, -0.016493939f),
                    (float3)(-0.14132977f, -0.11060664f, 1.2519364f), c);
    c = powr(fmax(c, 0.0f), 2.2f);
    c = transformed((float3)(1.660491f, -0.58764114f, -0.07284986f), (float3)(-0.12455047f, 1.1328999f, -0.0083494226f),
                    (float3)(-0.018150763f, -0.1005789f, 1.1187297f), c);
    return clamp(c, 0.0f, 1.0f);
}

static inline float3 op_agx(float3 c, float white) {
    return agx(c, 1.0f, 1.0f, 1.0f);
}

static inline float3 op_agx_punchy(float3 c, float white) {
    return agx(c, 1.0f, 1.35f, 1.4f);
}

static inline float3 op_agx_golden(float3 c, float white) {
    return agx(c, (float3)(1.0f, 0.9f, 0.5f), 0.8f, 1.3f);
}

// Khronos PBR Neutral Tone Mapper, specification of 2024, with its names: F90 0.04, Ks 0.8 − F90, Kd 0.15.
static inline float3 op_khronos_neutral(float3 c, float white) {
    const float ks = 0.76f, kd = 0.15f;
    float x = fmin(c.x, fmin(c.y, c.z));
    c -= x <= 0.08f ? x - 6.25f * x * x : 0.04f;
    float p = fmax(c.x, fmax(c.y, c.z));
    if (p <= ks) return fmax(c, 0.0f);
    float pn = 1.0f - (1.0f - ks) * (1.0f - ks) / (p + 1.0f - 2.0f * ks);
    float g = 1.0f / (kd * (p - pn) + 1.0f);
    return fmax(c * (pn / p) * g + pn * (1.0f - g), 0.0f);
}

// John Hable: Filmic Tonemapping Operators (Uncharted 2), 2010: f(2c) / f(white), where
//     f(x) = (x (A x + C B) + D E) / (x (A x + B) + D F) − E/F,   A .15, B .5, C .1, D .2, E .02, F .3
// over one denominator, so that black does not come from cancellation.
static inline float3 hable(float3 x) {
    return x * (0.042f * x + 0.005f) / (0.3f * (x * (0.15f * x + 0.5f) + 0.06f));
}

static inline float3 op_hable(float3 c, float white) {
    return hable(2.0f * c) / hable(white).x;
}

// Drago, Myszkowski, Annen, Chiba: Adaptive Logarithmic Mapping For Displaying High Contrast Scenes, Eurographics
// 2003, eq. 4 with bias 0.85 and a display of 100 cd/m²:
//     L' = ln(L + 1) / (log10(Lmax + 1) · ln(2 + 8 (L / Lmax)^(ln 0.85 / ln 0.5)))
// The paper's L is 1 at the luminance that the eye is adapted to; exposure has brought that to 0.18.
static inline float3 op_drago(float3 c, float white) {
    float y = luminance709(c);
    if (y <= 0.0f) return 0.0f;
    float l = y / 0.18f, most = white / 0.18f;
    float base = log(2.0f + 8.0f * powr(l / most, 0.23446525f));
    return c * (log1p(l) / (log10(1.0f + most) * base * y));
}
