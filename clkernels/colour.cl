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

// The rounded 8-bit sRGB codes of light x, exactly. codes: of each of 128 buckets an octave, from 2^-13 on, the code at its
// start in the highest byte, and below 2^24 less the place of the one step in it (in units of 2^-24 buckets), so that what is
// at the step or beyond it carries into the code. Below the first bucket codes are 0; at and after FULL 255.
#define FIRST_BUCKET 0x3900u  // the highest 16 bits of 2^-13
#define FULL 0x3f809375u      // the bits of 1.0045

static inline UINT srgb_code(UINT x_bits, CODES_SPACE const uint *codes) {
    UINT bits = clamp(x_bits, (UINT)(FIRST_BUCKET << 16), (UINT)FULL), place = (bits >> 16) - FIRST_BUCKET, entry;
#if WIDTH == 1
    entry = codes[place];
#else
    uint at[8], entries[8];
    vstore8(place, 0, at);
    for (int k = 0; k < 8; k++) entries[k] = codes[at[k]];
    entry = vload8(0, entries);
#endif
    return (entry + ((bits & 0xffffu) << 8)) >> 24;
}
