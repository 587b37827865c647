// Colours and alpha, and the sRGB transfer functions (IEC 61966-2-1:1999), both odd, so that negative values survive.
// The file stands after lanes.cl.
//
// -D CODES_SPACE=__global|__local   is the address space of srgb_code's table; without it __global

#ifndef CODES_SPACE
#define CODES_SPACE __global
#endif

// A premultiplied colour divided by alpha; where alpha is 0 it stays. The reciprocal of a subnormal alpha would
// overflow.
static inline FLOAT straight(FLOAT v, FLOAT alpha) {
    return select(v, v / alpha, alpha > (FLOAT)0.0f);
}

static inline FLOAT srgb_to_linear(FLOAT v) {
    FLOAT a = fabs(v);
    return copysign(select(power((a + 0.055f) / 1.055f, 2.4f), a / 12.92f, a <= 0.04045f), v);
}

static inline FLOAT linear_to_srgb(FLOAT v) {
    FLOAT a = fabs(v);
    return copysign(select(1.055f * power(a, 1.0f / 2.4f) - 0.055f, a * 12.92f, a <= 0.0031308f), v);
}

// srgb_code gives exactly the rounded 8-bit sRGB code of light x, given by x's bits. From 2^-13 on, each octave has 128
// buckets, in which the code changes once at most. The table has a number for each bucket. Added to x's bits past those
// of 2^-13, it puts the code into bits 16 … 23: the addition carries where x has reached the change. The last number of
// the table gives the code 0 for all x below 2^-13. Light beyond CODED_TO has no code.
#define CODED_FROM 0x39000000u  // the bits of 2^-13
#define CODED_TO 0x3f809375u   // the bits of 1.0045
#define BUCKETS 1665           // the number of buckets from CODED_FROM to CODED_TO

// srgb_sum gives the code in bits 16 … 23; the bits above are zero.
static inline UINT srgb_sum(UINT x, CODES_SPACE const uint *codes) {
    UINT past = min(x - CODED_FROM, (UINT)(BUCKETS << 16));
#if WIDTH == 1
    return past + codes[past >> 16];
#else
    uint at[8], added[8];
    vstore8(past >> 16, 0, at);
    for (int k = 0; k < 8; k++) added[k] = codes[at[k]];
    return past + vload8(0, added);
#endif
}

static inline UINT srgb_code(UINT x, CODES_SPACE const uint *codes) {
    return srgb_sum(x, codes) >> 16;
}
