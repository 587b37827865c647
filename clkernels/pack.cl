// Planar float (channel, pixel) → a file's interleaved pixels (height, width, CHANNELS) of type PIXEL.
//
// -D PIXEL=uchar|ushort|float   -D CHANNELS=n   -D COLOURS=n (channels that are not alpha)
// -D MAXIMUM=255|65535    integer PIXEL: its largest value
// -D HALF                 PIXEL is ushort, the bits of half floats: they need no extension so
// -D TABLE                sRGB codes of 8 bits by their exact thresholds
// -D LINEARISE, ENCODE    sRGB or its inverse by formula
// -D UNPREMULTIPLY        colours over alpha, before that
// A work-item converts several times WIDTH pixels; any group size. After lanes.cl and colour.cl.

#if defined(LINEARISE)
#define CURVE(v) srgb_to_linear(v)
#elif defined(ENCODE)
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

// Of WIDTH pixels, given channel by channel, the first `count`, interleaved. In whole vectors where all exist: one
// element after the other would take twice the time of the arithmetic.
static inline void store_interleaved(const PIXELS *v, __global PIXEL *to, int count) {
#if WIDTH == 1
    for (int c = 0; c < CHANNELS; c++) to[c] = v[c];
#else
    if (count < WIDTH) {
        PIXEL s[WIDTH];
        for (int c = 0; c < CHANNELS; c++) {
            vstore8(v[c], 0, s);
            for (int k = 0; k < count; k++) to[k * CHANNELS + c] = s[k];
        }
        return;
    }
    PIXELS a = v[0];
#if CHANNELS == 1
    vstore8(a, 0, to);
#elif CHANNELS == 2
    PIXELS b = v[1];
    vstore8((PIXELS)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3), 0, to);
    vstore8((PIXELS)(a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7), 1, to);
#elif CHANNELS == 3
    PIXELS b = v[1], c = v[2];
    vstore8((PIXELS)(a.s0, b.s0, c.s0, a.s1, b.s1, c.s1, a.s2, b.s2), 0, to);
    vstore8((PIXELS)(c.s2, a.s3, b.s3, c.s3, a.s4, b.s4, c.s4, a.s5), 1, to);
    vstore8((PIXELS)(b.s5, c.s5, a.s6, b.s6, c.s6, a.s7, b.s7, c.s7), 2, to);
#else
    PIXELS b = v[1], c = v[2], d = v[3];
    vstore8((PIXELS)(a.s0, b.s0, c.s0, d.s0, a.s1, b.s1, c.s1, d.s1), 0, to);
    vstore8((PIXELS)(a.s2, b.s2, c.s2, d.s2, a.s3, b.s3, c.s3, d.s3), 1, to);
    vstore8((PIXELS)(a.s4, b.s4, c.s4, d.s4, a.s5, b.s5, c.s5, d.s5), 2, to);
    vstore8((PIXELS)(a.s6, b.s6, c.s6, d.s6, a.s7, b.s7, c.s7, d.s7), 3, to);
#endif
#endif
}

// v within 0 … most; NaN becomes 0. (Of NaN, clamp may make anything.)
static inline FLOAT within(FLOAT v, float most) {
    v = select((FLOAT)0.0f, v, v > (FLOAT)0.0f);
    return select((FLOAT)most, v, v < (FLOAT)most);
}

// The nearest whole number, ties to even, of 0 … 2^22: beside 1.5 · 2^23 no bits below 1 are left. (rint is a call on
// some CPUs, and takes longer than all the rest.)
static inline INT nearest(FLOAT v) {
    return AS_INT(v + 12582912.0f) - 0x4b400000;
}

// lost[0] counts finite values that did not fit the type, lost[1] those that were not finite.
__kernel void pack(__global const float *planes, __global const float2 *bins, __global PIXEL *pixels,
                   __global uint *lost, int size) {
    INT clipped = 0, not_finite = 0;
    for (size_t i = get_global_id(0) * WIDTH; i < (size_t)size; i += get_global_size(0) * WIDTH) {
        int count = min((size_t)WIDTH, size - i);
        INT present = LANE_INDEX < (INT)count;
        PIXELS pixel[CHANNELS];
#ifdef UNPREMULTIPLY
        FLOAT alpha = load(planes + (size_t)(CHANNELS - 1) * size + i, count);
        FLOAT over = select((FLOAT)1.0f, 1.0f / alpha, alpha > (FLOAT)0.0f);
#endif
        for (int c = 0; c < CHANNELS; c++) {
            FLOAT v = load(planes + (size_t)c * size + i, count);
#ifdef UNPREMULTIPLY
            if (c < COLOURS) v *= over;
#endif
            INT exponent = AS_INT(v) & 0x7f800000, finite = exponent != 0x7f800000;  // isfinite() is a call, as rint() is
#ifdef MAXIMUM
            not_finite += one_if(present & (exponent == 0x7f800000));
#endif
#ifdef TABLE
            if (c < COLOURS) {
                // Clipped is what rounding would take out of the range, not what a rounding error took there.
                clipped += one_if(present & finite & ((v < -0.5f / (255.0f * 12.92f)) | (v > 1.0045f)));
                pixel[c] = TO_PIXELS(linear_to_srgb_code(within(v, 1.0f), bins));
                continue;
            }
#else
            if (c < COLOURS) v = CURVE(v);
#endif
#if defined(MAXIMUM)
            FLOAT level = v * (float)MAXIMUM;
            clipped += one_if(present & finite & ((level < -0.5f) | (level > (float)MAXIMUM + 0.5f)));
            pixel[c] = TO_PIXELS(nearest(within(level, MAXIMUM)));
#elif defined(HALF)
            clipped += one_if(present & finite & (fabs(v) > 65504.0f));
            v = select(v, clamp(v, (FLOAT)-65504.0f, (FLOAT)65504.0f), finite);
            HALF_BITS(v, 0, (half *)&pixel[c]);
#else
            pixel[c] = v;
#endif
        }
        store_interleaved(pixel, pixels + i * CHANNELS, count);
    }
    int sums[2] = {lanes_sum(clipped), lanes_sum(not_finite)};
    for (int k = 0; k < 2; k++)
        if (sums[k]) atomic_add(&lost[k], (uint)sums[k]);
}
