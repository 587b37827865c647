// Taking pixels by fours, for GPUs, from planes or from a file's pixels, as if all were one row: after layout.cl.
//
// TAKEN pixels come as VECTORS vectors (of lanes.cl, WIDTH 1) of CHANNELS channels of light. Those beyond the end are the
// last one. take fetches, light_of converts: between them other fetches may be under way.

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

static inline void light_of(Taken taken, __global const float *table, float scale, FLOAT v[VECTORS][CHANNELS]) {
    STORED four[4 * CHANNELS];
    unpack_quad(taken, four);
    UNROLLED
    for (int p = 0; p < 4; p++) decode(four + p * CHANNELS, table, scale, v[p]);
}

// Of TAKEN pixels from `first` on, those of vector k: how many exist, and their places.
#define COUNT_IN(k, first, size) ((first) + (k) < (size))
#define PLACE_OF(k, first) ((first) + (k))
