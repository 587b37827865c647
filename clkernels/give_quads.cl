// The way back of take_quads.cl: TAKEN pixels to planes, or, after encode.cl, to a file's pixels.
//
// -D WRITE_WORDS   whole words: `size` is a multiple of four, or there are pixels
// lost: see encode.cl.

#ifdef PIXEL
typedef PIXEL MADE;

static inline void give(FLOAT v[VECTORS][CHANNELS], __global MADE *out, uint first, uint size,
                        CODES_SPACE const uint *codes, INT *lost) {
    union {
        MADE values[4 * CHANNELS];
        uint words[CHANNELS * sizeof(MADE)];
    } all;
    int count = (int)min(size - first, 4u);
    encode_light(v, codes, 4, count, lost, all.values);
    if (count == 4) {
        __global uint *to = (__global uint *)(out + (size_t)first * CHANNELS);
        UNROLLED
        for (int k = 0; k < (int)(CHANNELS * sizeof(MADE)); k++) to[k] = all.words[k];
    } else {
        for (int k = 0; k < count * CHANNELS; k++) out[(size_t)first * CHANNELS + k] = all.values[k];
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
