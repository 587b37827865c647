// give stores the TAKEN pixels of take_quads.cl: to planes, or to a file's pixels, for which this file stands after
// encode.cl. `lost` is as in encode.cl.
//
// -D WRITE_WORDS   stores four values of a plane as one vector: `size` is a multiple of four

#ifdef PIXEL
typedef PIXEL MADE;

#if MAXIMUM == 255
// Joins the third bytes of four words.
static inline uint third_bytes(uint a, uint b, uint c, uint d) {
#ifdef __NV_CL_C_VERSION
    uint low, high, all;
    asm("prmt.b32 %0, %1, %2, 0x0062;" : "=r"(low) : "r"(a), "r"(b));
    asm("prmt.b32 %0, %1, %2, 0x0062;" : "=r"(high) : "r"(c), "r"(d));
    asm("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(all) : "r"(low), "r"(high));
    return all;
#else
    return (a >> 16 & 0xffu) | (b >> 8 & 0xff00u) | (c & 0xff0000u) | (d << 8 & 0xff000000u);
#endif
}
#endif

static inline void give(FLOAT v[VECTORS][CHANNELS], __global MADE *out, uint first, uint size,
                        CODES_SPACE const uint *codes, INT *lost) {
    union {
        Coded values[4 * CHANNELS];
        uint words[CHANNELS * sizeof(Coded)];
    } all;
    int count = (int)min(size - first, 4u);
    encode_light(v, codes, 4, count, lost, all.values);
    out += (size_t)first * CHANNELS;
    if (count == 4) {
        UNROLLED
        for (int k = 0; k < (int)(CHANNELS * sizeof(MADE)); k++)
#if MAXIMUM == 255
            ((__global uint *)out)[k] = third_bytes(all.values[4 * k], all.values[4 * k + 1], all.values[4 * k + 2], all.values[4 * k + 3]);
#else
            ((__global uint *)out)[k] = all.words[k];
#endif
    } else {
        for (int k = 0; k < count * CHANNELS; k++) out[k] = PIXEL_OF(all.values[k]);
    }
}

#else
typedef float MADE;

static inline void give(FLOAT v[VECTORS][CHANNELS], __global MADE *out, uint first, uint size,
                        __global const uint *codes, INT *lost) {
    UNROLLED
    for (int c = 0; c < CHANNELS; c++) {
#ifdef WRITE_WORDS
        *(__global float4 *)(out + (size_t)c * size + first) = (float4)(v[0][c], v[1][c], v[2][c], v[3][c]);
#else
        UNROLLED
        for (int p = 0; p < 4; p++)
            if (first + p < size) out[(size_t)c * size + first + p] = v[p][c];
#endif
    }
}
#endif
