// sRGB transfer functions (IEC 61966-2-1:1999), both odd-symmetric so that negative values survive. After lanes.cl.
//
// -D CODES_SPACE=__global|__local   where srgb_code's table is: __global without it

#ifndef CODES_SPACE
#define CODES_SPACE __global
#endif

static inline FLOAT srgb_to_linear(FLOAT v) {
    FLOAT a = fabs(v);
    return copysign(select(power((a + 0.055f) / 1.055f, 2.4f), a / 12.92f, a <= 0.04045f), v);
}

static inline FLOAT linear_to_srgb(FLOAT v) {
    FLOAT a = fabs(v);
    return copysign(select(1.055f * power(a, 1.0f / 2.4f) - 0.055f, a * 12.92f, a <= 0.0031308f), v);
}

// The rounded 8-bit sRGB codes of light x, given by its bits, exactly: of each of 128 buckets an octave, from 2^-13 on, a
// number that makes of x's bits past the first bucket's, added to it, the code in bits 16 … 23. A bucket has one step at
// most; what is at it or beyond carries. Below the first bucket codes are 0, by the last number; beyond CODED_TO there are none.
#define CODED_FROM 0x39000000u  // the bits of 2^-13
#define CODED_TO 0x3f809375u   // the bits of 1.0045
#define BUCKETS 1665

// srgb_sum gives it in bits 16 … 23, with zeros above.
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
