// Where samples lie: an image's, and coefficients', which are an image too, in which low and high ones alternate along both
// axes: low coefficient k is sample 2k, high coefficient k is sample 2k + 1. Its size is an image's, or somewhat larger.
//
// -D S=float|double   a sample
// -D INVERSE          what is read are coefficients, in four bands; else an image
// -D STRIPS           Both are one buffer. A row lies there in strips of 2^strip columns; the transform makes of each a low and a
//                     high half, and the next one takes all low halves for its image, in runs of 2^run columns.
//                     layout: strip, run, the last run's number and its low half's length

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define S2 JOIN(S, 2)
#define S4 JOIN(S, 4)

// Pairs of samples of a level. bands: (lows, highs) along y, then along x. image: (height, width).
#ifdef INVERSE
#define PAIRS_Y(bands, image) (((image).x + 1) / 2)
#define PAIRS_X(bands, image) (((image).y + 1) / 2)
#define READ_HEIGHT(bands, image) ((bands).x + (bands).y)
#define READ_WIDTH(bands, image) ((bands).z + (bands).w)
#else
#define PAIRS_Y(bands, image) ((bands).x)
#define PAIRS_X(bands, image) ((bands).z)
#define READ_HEIGHT(bands, image) ((image).x)
#define READ_WIDTH(bands, image) ((image).y)
#endif

#ifdef STRIPS
// Of an image's column.
static inline uint column_place(int x, int4 layout) {
    return ((uint)(x >> layout.y) << layout.x) + (x & ((1 << layout.y) - 1));
}

// Of low coefficient k; high ones lie half_length further.
static inline uint low_place(int k, int4 layout) {
    const int s = 2 * k >> layout.y;
    return ((uint)s << layout.x) + (k - (s << layout.y >> 1));
}

static inline uint half_length(int k, int4 layout) {
    return 2 * k >> layout.y == layout.z ? layout.w : 1 << layout.y >> 1;
}
#endif

// What is put aside of a row, `pitch` samples: place i of it. Of coefficients the low ones come first.
#ifdef INVERSE
#define PLACE_ASIDE(i, pitch) ((i) / 2 + ((i) & 1) * ((pitch) / 2))
#define SECOND_ASIDE(pitch) ((pitch) / 2)
#else
#define PLACE_ASIDE(i, pitch) (i)
#define SECOND_ASIDE(pitch) PAIRS
#endif

// Of all tiles' edges, with STRIPS: so many samples of each row. Multiples of eight, for vectors.
#define EDGES_ASIDE(tiles) (((tiles) * EDGE + 7) / 8 * 8)
