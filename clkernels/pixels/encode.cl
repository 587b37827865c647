// Values → a file's type PIXEL, WIDTH at a time. After lanes.cl and colour.cl.
//
// -D PIXEL=uchar|ushort|float
// -D MAXIMUM=255|65535    integer PIXEL: its largest value
// -D HALF                 PIXEL is ushort, the bits of half floats: they need no extension so
// -D CODE_TABLE           sRGB codes of 8 bits by a table: srgb_code in colour.cl
// -D UP_TO_1               colours are of 0 … 1: encode_plain need not look
// -D TO_SRGB, TO_LINEAR   sRGB or its inverse by formula (names that decode.cl, which may be there too, has not)

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

// v within 0 … most; NaN becomes 0. (Of NaN, clamp may make anything.)
static inline FLOAT within(FLOAT v, float most) {
    v = select((FLOAT)0.0f, v, v > (FLOAT)0.0f);
    return select((FLOAT)most, v, v < (FLOAT)most);
}

// A premultiplied colour over alpha, as it is where alpha is 0. A quotient: of a denormal alpha the reciprocal overflows.
static inline FLOAT straight(FLOAT v, FLOAT alpha) {
    return select(v, v / alpha, alpha > (FLOAT)0.0f);
}

// The nearest whole number, ties to even, of 0 … 2^22: beside 1.5 · 2^23 no bits below 1 are left. (rint is a call on
// some CPUs, and takes longer than all the rest.)
static inline INT nearest(FLOAT v) {
    return AS_INT(v + 12582912.0f) - 0x4b400000;
}

// What is above it does not fit, and is not only rounded wrongly.
#ifdef CODE_TABLE
#define MOST_CODED 1.0045f
#elif defined(MAXIMUM)
#define MOST_CODED (1.0f + 0.5f / MAXIMUM)
#endif

// lost[0] counts finite values that did not fit the type, lost[1] those that were not finite, of those `present`.
// `colour`: not alpha. `codes`: see srgb_code in colour.cl.
static inline PIXELS encode(FLOAT v, int colour, CODES_SPACE const uint *codes, INT present, INT *lost) {
    INT exponent = AS_INT(v) & 0x7f800000, finite = exponent != 0x7f800000;  // isfinite() is a call, as rint() is
#ifdef MAXIMUM
    lost[1] += one_if(present & (exponent == 0x7f800000));
#endif
#ifdef CODE_TABLE
    if (colour) {
        lost[0] += one_if(present & finite & ((v < -0.5f / (255.0f * 12.92f)) | (v > MOST_CODED)));
        return TO_PIXELS(srgb_code(AS_UINT(within(v, 1.0f)), codes));
    }
#else
    if (colour) v = CURVE(v);
#endif
    PIXELS result;
#if defined(MAXIMUM)
    FLOAT level = v * (float)MAXIMUM;
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
// A pixel of CHANNELS values, the first COLOURS of which are not alpha, with few instructions. Gives back whether it is as
// encode makes it, with nothing to count: 8-bit sRGB of which no value is beyond the ends, but for rounding.
static inline int encode_plain(const float *v, CODES_SPACE const uint *codes, PIXEL *pixel) {
    int plain = 1;
    for (int c = 0; c < CHANNELS; c++) {
#ifdef CODE_TABLE
        if (c < COLOURS) {
            pixel[c] = srgb_code(as_uint(v[c]), codes);
#ifndef UP_TO_1
            plain &= as_uint(v[c]) <= CODED_TO;  // as what is negative or not finite is not
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

// The same of any pixel, as encode does: its values before `count` are present.
static inline void encode_pixel(const float *v, CODES_SPACE const uint *codes, int count, int *lost, PIXEL *pixel) {
#ifdef CODE_TABLE
    if (encode_plain(v, codes, pixel)) return;
#endif
    for (int c = 0; c < CHANNELS; c++) pixel[c] = encode(v[c], c < COLOURS, codes, c < count, lost);
}

// The same of `number` pixels whose colours are finite and not negative, of which the first `count` exist, with one branch
// for all that did not fit. Of 8 bits as Coded, in bits 16 … 23, where srgb_sum has them.
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
    float most = 0.0f;
    UNROLLED
    for (int p = 0; p < number; p++) {
        Coded *pixel = coded + p * CHANNELS;
        for (int c = COLOURS; c < CHANNELS; c++) pixel[c] = CODED_AS(encode(v[p][c], 0, codes, p < count, lost));
        for (int c = 0; c < COLOURS; c++) {
#if defined(CODE_TABLE) && defined(UP_TO_1)
            pixel[c] = srgb_sum(as_uint(v[p][c]), codes);
#elif defined(CODE_TABLE)
            pixel[c] = srgb_sum(as_uint(clamp(v[p][c], 0.0f, 1.0f)), codes);
            most = fmax(most, v[p][c]);
#elif defined(MAXIMUM)
            v[p][c] = CURVE(v[p][c]);
            pixel[c] = CODED_AS(nearest(clamp(v[p][c], 0.0f, 1.0f) * MAXIMUM));
            most = fmax(most, v[p][c]);
#else
            pixel[c] = encode(v[p][c], 1, codes, p < count, lost);
#endif
        }
    }
#ifdef MAXIMUM
    if (most <= MOST_CODED) return;
    UNROLLED
    for (int p = 0; p < number; p++)
        for (int c = 0; c < COLOURS; c++) lost[0] += p < count && v[p][c] > MOST_CODED;
#endif
}
#endif
