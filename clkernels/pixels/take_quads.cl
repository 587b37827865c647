// take fetches four pixels, for GPUs, from planes or a file's pixels as if all were one row. The file stands after
// layout.cl.
//
// TAKEN pixels become VECTORS vectors (of lanes.cl, WIDTH 1) of CHANNELS channels of light. Beyond the end the last
// pixel is repeated. take only fetches and light_of converts, so that other fetches may be under way between them.
//
// -D STAGES   light goes through staged(v, numbers) as well: see gpuops/pixels/pointwise.py

#define TAKEN 4
#define VECTORS 4

typedef Quad Taken;

static inline Taken take(__global const STORED *in, uint first, uint size) {
    Quad quad;
#ifdef READ_WORDS
    if (first + 4 <= size) {
        fetch_words(in, first, size, &quad);
        return quad;
    }
#endif
    STORED four[4 * CHANNELS];
    UNROLLED
    for (int p = 0; p < 4; p++) fetch(in, min(first + p, size - 1), size, four + p * CHANNELS);
    return pack_quad(four);
}

static inline void light_of(Taken taken, __global const float *table, float scale, Numbers numbers,
                            FLOAT v[VECTORS][CHANNELS]) {
    STORED four[4 * CHANNELS];
    unpack_quad(taken, four);
    UNROLLED
    for (int p = 0; p < 4; p++) {
        decode(four + p * CHANNELS, table, scale, v[p]);
#ifdef STAGES
        staged(v[p], numbers);
#endif
    }
}

// For vector k of the TAKEN pixels from `first` on: the number of its pixels that exist, and the place of its first
// one.
#define COUNT_IN(k, first, size) ((first) + (k) < (size))
#define PLACE_OF(k, first) ((first) + (k))
