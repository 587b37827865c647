// How a kernel reads pixels as light: a file's interleaved ones (height, width, CHANNELS) by decode.cl, which stands
// before this, or planar float (CHANNELS, height, width) as it is.
//
// -D PIXEL=type …   as decode.cl says; without it: planar   -D CHANNELS=n
// -D READ_WORD=uint|ushort   neighbours 2k and 2k + 1 are fetched in such words: only for rows of an even number of pixels

#define UNROLLED __attribute__((opencl_unroll_hint))

#ifdef PIXEL
typedef PIXEL STORED;
#define PIXEL_INDEX(at, channel, plane) ((size_t)(at) * CHANNELS + (channel))
#else
typedef float STORED;
#define PIXEL_INDEX(at, channel, plane) ((size_t)(channel) * (plane) + (at))
static inline void decode(const STORED *pixel, __global const float *table, float scale, float *v) {
    for (int c = 0; c < CHANNELS; c++) v[c] = pixel[c];
}
#endif

static inline void fetch(__global const STORED *in, size_t at, size_t plane, STORED *pixel) {
    UNROLLED
    for (int c = 0; c < CHANNELS; c++) pixel[c] = in[PIXEL_INDEX(at, c, plane)];
}

#ifdef READ_WORD
typedef union {
    STORED values[2 * CHANNELS];
    READ_WORD words[2 * CHANNELS * sizeof(STORED) / sizeof(READ_WORD)];
} Pair;
#endif

// Pixels `left` and `right` of a row, which are neighbours 2k and 2k + 1 with READ_WORD.
static inline void fetch_pair(__global const STORED *in, int row, int left, int right, int height, int width,
                              STORED two[2][CHANNELS]) {
#ifdef READ_WORD
    Pair pair;
    // One product of 32 bits by 32 bits: integers of 64 bits are slow on GPUs.
    in += (size_t)(uint)row * (uint)(width * CHANNELS) + (uint)(left * CHANNELS);
    __global const READ_WORD *from = (__global const READ_WORD *)in;
    UNROLLED
    for (int k = 0; k < (int)(sizeof(pair) / sizeof(READ_WORD)); k++) pair.words[k] = from[k];
    UNROLLED
    for (int k = 0; k < 2 * CHANNELS; k++) two[k / CHANNELS][k % CHANNELS] = pair.values[k];
#else
    size_t plane = (size_t)height * width, at = (size_t)(uint)row * (uint)width;
    fetch(in, at + left, plane, two[0]);
    fetch(in, at + right, plane, two[1]);
#endif
}
