// Converts a file's interleaved pixels (height, width, CHANNELS) to linear Rec. 709 light, floats of the same shape, by
// a curve for each colour, or a table for all, and a matrix (gpuops/pixels/curves.py and primaries.py cite their
// sources). The file stands after lanes.cl. One work-item takes a pixel; groups may have any size.
//
// -D PIXEL=uchar|ushort|float   is the type of a file's values
// -D CHANNELS=n    is the number of values of a pixel
// -D COLOURS=n     is the number of channels that are not alpha
// -D HALF          PIXEL is ushort and holds the bits of half floats, so that no extension is needed
// -D CURVES=1|3    there is one curve for all colours, or one for each, a row of `curves` each, of one of these kinds:
// -D CODES=n       a curve has the light of each of n codes
// -D SAMPLES=n     a curve has the light at n equal steps of 0 … 1: linear between them, constant beyond
// -D POWERS=bits   curves whose bit is set have g, a, b, c, d, e, f: light is (a v + b)^g + e from v = d on, c v + f
//                  below, and the light of −v is minus that of v. Without any of these three, values are light.
// -D ODD=bits      of sampled curves whose bit is set the light of −v is minus that of v, too
// -D CUBE=n        values then go through a table of n steps of red, of green and of blue, red's following each other: it
//                  holds CIELAB's f of X, Y and Z relative to white, and 0. The matrix takes these.
// -D SCENE         then multiplies light by Y^(γ − 1), the OOTF of ITU-R BT.2100, table 5, with m.sc = γ and the luminance
//                  Y = m.s9 R + m.sa G + m.sb B, or gray itself. Light of −v is minus that of v.
// -D MATRIX        multiplies light by the matrix m, whose rows follow one another

#ifdef HALF
#define VALUE(p) vload_half(0, (__global const half *)(p))
#else
#define VALUE(p) ((float)*(p))
#endif

#if defined(CODES)
#define ROW CODES
#elif defined(SAMPLES)
#define ROW SAMPLES
#else
#define ROW 7
#endif

static inline float light_of_value(__global const PIXEL *pixel, __global const float *curves, int which) {
    __global const float *curve = curves + which * ROW;
#if defined(CODES)
    return curve[(int)*pixel];
#else
#ifdef POWERS
    if (POWERS >> which & 1) {
        float v = fabs(VALUE(pixel));
        float light = v >= curve[4] ? power(fmax(fma(curve[1], v, curve[2]), 0.0f), curve[0]) + curve[5]
                                    : fma(curve[3], v, curve[6]);
        return isnan(v) ? v : VALUE(pixel) < 0.0f ? -light : light;
    }
#endif
#ifdef SAMPLES
    int odd = ODD >> which & 1;
    float value = VALUE(pixel);
    float at = clamp(odd ? fabs(value) : value, 0.0f, 1.0f) * (SAMPLES - 1);  // undefined for NaN, treated below
    int i = min((int)at, SAMPLES - 2);
    float sampled = mix(curve[i], curve[i + 1], at - i);
    return isnan(value) ? NAN : odd && value < 0.0f ? -sampled : sampled;
#else
    return VALUE(pixel);
#endif
#endif
}

#ifdef CUBE
// The place of a value along an axis of the table, in steps.
static inline float steps(float v) { return clamp(isnan(v) ? 0.0f : v, 0.0f, 1.0f) * (CUBE - 1); }

// X, Y and Z of a colour between eight entries: the tetrahedra are those of lut.cl, with its source. A NaN makes all NaN.
static inline float4 xyz_of_colour(float r, float g, float b, __global const float4 *cube) {
    const int n = CUBE, all = 1 + n + n * n;
    float x = steps(r), y = steps(g), z = steps(b);
    int red = min((int)x, n - 2), green = min((int)y, n - 2), blue = min((int)z, n - 2);
    x -= red, y -= green, z -= blue;
    float most = fmax(x, fmax(y, z)), least = fmin(x, fmin(y, z)), middle = fmax(fmin(x, y), fmin(fmax(x, y), z));
    // One step along the axis of the largest fraction, and one along that of the smallest.
    int first = x >= y ? (x >= z ? 1 : n * n) : (y >= z ? n : n * n);
    int last = x >= y ? (y < z ? n : n * n) : (x < z ? 1 : n * n);
    cube += (blue * n + green) * n + red;
    float4 t = (1.0f - most) * cube[0] + (most - middle) * cube[first] + (middle - least) * cube[all - last] +
               least * cube[all];
    float4 xyz = select((t - 4.0f / 29.0f) * (108.0f / 841.0f), t * t * t, t > 6.0f / 29.0f);
    return isnan(r) || isnan(g) || isnan(b) ? (float4)(NAN) : xyz;
}
#endif

// `scale` multiplies alpha.
__kernel void light(__global const PIXEL *pixels, __global const float *curves, __global const float4 *cube,
                    __global float *light, ulong size, float scale, float16 m) {
    size_t i = get_global_id(0);
    if (i >= size) return;
    pixels += i * CHANNELS;
    light += i * CHANNELS;
    float v[CHANNELS];
    UNROLLED
    for (int c = 0; c < COLOURS; c++) v[c] = light_of_value(pixels + c, curves, c % CURVES);
#ifdef CUBE
    float4 of_cube = xyz_of_colour(v[0], v[1], v[2], cube);
    v[0] = of_cube.x, v[1] = of_cube.y, v[2] = of_cube.z;
#endif
    int infinite = 0;  // pixels with an infinity stay: ∞ − ∞ and 0 · ∞ would be NaN
    for (int c = 0; c < COLOURS; c++) infinite |= isinf(v[c]);
#ifdef SCENE
    float luminance = COLOURS == 3 ? fma(m.s9, v[0], fma(m.sa, v[1 % CHANNELS], m.sb * v[2 % CHANNELS])) : v[0];
    float gain = infinite ? 1.0f : power(fabs(luminance), m.sc - 1.0f);
    for (int c = 0; c < COLOURS; c++) v[c] *= gain;
#endif
#ifdef MATRIX
    float r = v[0], g = v[1], b = v[2];
    v[0] = infinite ? r : fma(m.s0, r, fma(m.s1, g, m.s2 * b));
    v[1] = infinite ? g : fma(m.s3, r, fma(m.s4, g, m.s5 * b));
    v[2] = infinite ? b : fma(m.s6, r, fma(m.s7, g, m.s8 * b));
#endif
    for (int c = COLOURS; c < CHANNELS; c++) v[c] = VALUE(pixels + c) * scale;
    for (int c = 0; c < CHANNELS; c++) light[c] = v[c];
}
