// encode converts WIDTH values to a file's type PIXEL. The file stands after lanes.cl and colour.cl.
//
// -D PIXEL=uchar|ushort|float   is the type of a file's values
// -D MAXIMUM=255|65535    is the largest value of an integer PIXEL
// -D LEVEL_OF_1=n         is the number that 1 becomes of an integer PIXEL. Without it that is MAXIMUM
// -D HALF                 PIXEL is ushort and holds the bits of half floats, so that no extension is needed
// -D CODE_TABLE           takes 8-bit sRGB codes from a table, by srgb_code of colour.cl
// -D UP_TO_1              promises that colours are within 0 … 1, so that encode_plain need not check them
// -D ANY_LIGHT            says that colours may be negative or not finite in encode_light
// -D TO_SRGB, TO_LINEAR   encode to sRGB or decode it by formula (decode.cl has other names for these, as both files
//                         may be in one program)

#if defined(TO_LINEAR)
#define CURVE(v) srgb_to_linear(v)
#elif defined(TO_SRGB)
#define CURVE(v) linear_to_srgb(v)
#else
#define CURVE(v) (v)
#endif

#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
#if WIDTH == 1
typedef PIXEL PIXELS;
#define TO_PIXELS GLUE(convert_, PIXEL)
#define HALF_BITS vstore_half_rte
#else
typedef GLUE(PIXEL, 8) PIXELS;
#define TO_PIXELS GLUE(GLUE(convert_, PIXEL), 8)
#define HALF_BITS vstore_half8_rte
#endif

// Clamps v to 0 … most. NaN becomes 0, whereas clamp() may make anything of it.
static inline FLOAT within(FLOAT v, float most) {
    v = select((FLOAT)0.0f, v, v > (FLOAT)0.0f);
    return select((FLOAT)most, v, v < (FLOAT)most);
}

// The nearest whole number, ties to even, for 0 … 2^22: adding 1.5 · 2^23 leaves no bits below 1. (rint() is a function
// call on some CPUs, and takes longer than all the rest.)
static inline INT nearest(FLOAT v) {
    return AS_INT(v + 12582912.0f) - 0x4b400000;
}

// A colour above MOST_CODED or below LEAST_CODED does not fit the type; one between 1 and MOST_CODED, or between
// LEAST_CODED and 0, is merely rounded.
#ifdef CODE_TABLE
#define MOST_CODED 1.0045f
#define LEAST_CODED (-0.5f / (255.0f * 12.92f))
#elif defined(LEVEL_OF_1)
#define MOST_CODED ((MAXIMUM + 0.5f) / LEVEL_OF_1)
#define LEAST_CODED (-0.5f / LEVEL_OF_1)
#elif defined(MAXIMUM)
#define MOST_CODED (1.0f + 0.5f / MAXIMUM)
#define LEAST_CODED (-0.5f / MAXIMUM)
#endif

// Clamps a colour to 0 … 1.
#ifdef ANY_LIGHT
#define FROM_0_TO_1(v) fmin(fmax(v, 0.0f), 1.0f)  // NaN becomes 0
#else
#define FROM_0_TO_1(v) clamp(v, 0.0f, 1.0f)
#endif

// A colour as a number of levels that the type has.
#ifdef LEVEL_OF_1
#define LEVEL_OF(v) within((v) * (float)LEVEL_OF_1, MAXIMUM)
#else
#define LEVEL_OF_1 MAXIMUM
#define LEVEL_OF(v) (FROM_0_TO_1(v) * MAXIMUM)
#endif

// lost[0] counts the finite values that did not fit the type, lost[1] those that were not finite, both only where
// `present` is set. `colour` is false for alpha. `codes` is the table of srgb_code in colour.cl.
static inline PIXELS encode(FLOAT v, int colour, CODES_SPACE const uint *codes, INT present, INT *lost) {
    INT exponent = AS_INT(v) & 0x7f800000, finite = exponent != 0x7f800000;  // isfinite() is a call, as rint() is
#ifdef MAXIMUM
    lost[1] += one_if(present & (exponent == 0x7f800000));
#endif
#ifdef CODE_TABLE
    if (colour) {
        lost[0] += one_if(present & finite & ((v < LEAST_CODED) | (v > MOST_CODED)));
        return TO_PIXELS(srgb_code(AS_UINT(within(v, 1.0f)), codes));
    }
#else
    if (colour) v = CURVE(v);
#endif
    PIXELS result;
#if defined(MAXIMUM)
    FLOAT level = v * (float)LEVEL_OF_1;
    lost[0] += one_if(present & finite & ((level < -0.5f) | (level > (float)MAXIMUM + 0.5f)));
    result = TO_PIXELS(nearest(within(level, MAXIMUM)));
#elif defined(HALF)
    lost[0] += one_if(present & finite & (fabs(v) > 65504.0f));
    v = select(v, clamp(v, (FLOAT)-65504.0f, (FLOAT)65504.0f), finite);
    HALF_BITS(v, 0, (half *)&result);
#else
    result = v;
#endif
    return result;
}

#if WIDTH == 1
// Encodes a pixel of CHANNELS values, the first COLOURS of which are not alpha, in few instructions. Returns whether
// the result is what encode gives with nothing to count: 8-bit sRGB, no value beyond 0 … 1 except by less than
// rounding.
static inline int encode_plain(const float *v, CODES_SPACE const uint *codes, PIXEL *pixel) {
    int plain = 1;
    for (int c = 0; c < CHANNELS; c++) {
#ifdef CODE_TABLE
        if (c < COLOURS) {
            pixel[c] = srgb_code(as_uint(v[c]), codes);
#ifndef UP_TO_1
            plain &= as_uint(v[c]) <= CODED_TO;  // false for negative values, infinities and NaN too
#endif
        } else {
            pixel[c] = nearest(v[c] * MAXIMUM);
            plain &= as_uint(v[c]) <= as_uint(1.0f + 0.5f / MAXIMUM);
        }
#else
        INT lost[2] = {0, 0};
        pixel[c] = encode(v[c], c < COLOURS, codes, 1, lost);
        plain &= !(lost[0] | lost[1]);
#endif
    }
    return plain;
}

// Encodes any pixel as encode does. Only its values before `count` are present.
static inline void encode_pixel(const float *v, CODES_SPACE const uint *codes, int count, int *lost, PIXEL *pixel) {
#ifdef CODE_TABLE
    if (encode_plain(v, codes, pixel)) return;
#endif
    for (int c = 0; c < CHANNELS; c++) pixel[c] = encode(v[c], c < COLOURS, codes, c < count, lost);
}

// Encodes `number` pixels, the first `count` of which exist, and whose colours are finite and not negative unless there
// is ANY_LIGHT. One branch finds all that do not fit. An 8-bit code stays in bits 16 … 23 of a Coded, where srgb_sum
// puts it.
#if MAXIMUM == 255
typedef uint Coded;
#define PIXEL_OF(coded) ((coded) >> 16)
#define CODED_AS(pixel) ((uint)(pixel) << 16)
#else
typedef PIXEL Coded;
#define PIXEL_OF(coded) (coded)
#define CODED_AS(pixel) (pixel)
#endif

static inline void encode_light(FLOAT v[][CHANNELS], CODES_SPACE const uint *codes, int number, int count, int *lost,
                                Coded *coded) {
    int fit = 1;
    UNROLLED
    for (int p = 0; p < number; p++) {
        Coded *pixel = coded + p * CHANNELS;
        for (int c = COLOURS; c < CHANNELS; c++) pixel[c] = CODED_AS(encode(v[p][c], 0, codes, p < count, lost));
        for (int c = 0; c < COLOURS; c++) {
#if defined(CODE_TABLE) && defined(UP_TO_1)
            pixel[c] = srgb_sum(as_uint(v[p][c]), codes);
#elif defined(CODE_TABLE)
            pixel[c] = srgb_sum(as_uint(FROM_0_TO_1(v[p][c])), codes);
            fit &= as_uint(v[p][c]) <= as_uint(MOST_CODED);
#elif defined(MAXIMUM)
            v[p][c] = CURVE(v[p][c]);
            pixel[c] = CODED_AS(nearest(LEVEL_OF(v[p][c])));
            fit &= as_uint(v[p][c]) <= as_uint(MOST_CODED);
#else
            pixel[c] = encode(v[p][c], 1, codes, p < count, lost);
#endif
        }
    }
#ifdef MAXIMUM
    if (fit) return;
    UNROLLED
    for (int p = 0; p < number; p++)
        for (int c = 0; c < COLOURS; c++) {
            int finite = fabs(v[p][c]) <= FLT_MAX;
            lost[0] += p < count && finite && (v[p][c] > MOST_CODED || v[p][c] < LEAST_CODED);
            lost[1] += p < count && !finite;
        }
#endif
}
#endif
