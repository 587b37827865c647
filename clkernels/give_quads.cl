// The way back of take_quads.cl: TAKEN pixels to planes, or, after encode.cl, to a file's pixels.
//
// -D WRITE_WORDS   whole words: `size` is a multiple of four, or there are pixels
// lost: see encode.cl.

#ifdef PIXEL
typedef PIXEL MADE;

static inline void give(FLOAT v[VECTORS][CHANNELS], __global MADE *out, size_t first, size_t size,
                        CODES_SPACE const uint *codes, INT *lost) {
    union {
        MADE values[4 * CHANNELS];
        uint words[CHANNELS * sizeof(MADE)];
    } all;
    UNROLLED
    for (int p = 0; p < 4; p++)
        encode_light(v[p], codes, first + p < size ? CHANNELS : 0, lost, all.values + p * CHANNELS);
    if (first + 4 <= size) {
        __global uint *to = (__global uint *)(out + first * CHANNELS);
        UNROLLED
        for (int k = 0; k < (int)(CHANNELS * sizeof(MADE)); k++) to[k] = all.words[k];
    } else {
        for (int k = 0; k < (int)(size - first) * CHANNELS; k++) out[first * CHANNELS + k] = all.values[k];
    }
}

#else
typedef float MADE;

static inline void give(FLOAT v[VECTORS][CHANNELS], __global MADE *out, size_t first, size_t size,
                        __global const uint *codes, INT *lost) {
    UNROLLED
    for (int c = 0; c < CHANNELS; c++) {
#ifdef WRITE_WORDS
        *(__global float4 *)(out + c * size + first) = (float4)(v[0][c], v[1][c], v[2][c], v[3][c]);
#else
        UNROLLED
        for (int p = 0; p < 4; p++)
            if (first + p < size) out[c * size + first + p] = v[p][c];
#endif
    }
}
#endif
