// How a kernel reads pixels as light: a file's interleaved pixels (height, width, CHANNELS) through decode.cl, which
// stands before this file, or planar float (CHANNELS, height, width) as it is.
//
// -D PIXEL=type …       are as in decode.cl; without PIXEL the input is planar
// -D CHANNELS=n         is the number of channels
// -D READ_WORDS=1|2|4   fetches neighbours 4k … 4k + 3 of a row in vectors of so many 32-bit words, or a plane's four
//                       at once; only for rows of a multiple of four pixels

#define UNROLLED __attribute__((opencl_unroll_hint))
#define ROLLED __attribute__((opencl_unroll_hint(1)))  // forbids the compiler to unroll a loop

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

// Four pixels, one after the other, are kept as words until they are used: words need fewer registers.
#if defined(READ_WORDS) && defined(PIXEL)
typedef struct {
    uint words[CHANNELS * sizeof(STORED)];
} Quad;
#else
typedef struct {
    STORED values[4 * CHANNELS];
} Quad;
#endif

static inline Quad pack_quad(const STORED *four) {
    union {
        Quad quad;
        STORED values[4 * CHANNELS];
    } all;
    UNROLLED
    for (int k = 0; k < 4 * CHANNELS; k++) all.values[k] = four[k];
    return all.quad;
}

static inline void unpack_quad(Quad quad, STORED *four) {
    union {
        Quad quad;
        STORED values[4 * CHANNELS];
    } all;
    all.quad = quad;
    UNROLLED
    for (int k = 0; k < 4 * CHANNELS; k++) four[k] = all.values[k];
}

#ifdef READ_WORDS
// Pixels first … first + 3, with `first` a multiple of four, as whole words.
static inline void fetch_words(__global const STORED *in, size_t first, size_t plane, Quad *four) {
#ifdef PIXEL
    __global const uint *from = (__global const uint *)(in + first * CHANNELS);
    UNROLLED
    for (int k = 0; k < (int)(CHANNELS * sizeof(STORED)); k += READ_WORDS) {
#if READ_WORDS == 4
        uint4 v = *(__global const uint4 *)(from + k);
        four->words[k] = v.x, four->words[k + 1] = v.y, four->words[k + 2] = v.z, four->words[k + 3] = v.w;
#elif READ_WORDS == 2
        uint2 v = *(__global const uint2 *)(from + k);
        four->words[k] = v.x, four->words[k + 1] = v.y;
#else
        four->words[k] = from[k];
#endif
    }
#else
    UNROLLED
    for (int c = 0; c < CHANNELS; c++) {
        float4 v = *(__global const float4 *)(in + PIXEL_INDEX(first, c, plane));
        four->values[c] = v.x, four->values[CHANNELS + c] = v.y;
        four->values[2 * CHANNELS + c] = v.z, four->values[3 * CHANNELS + c] = v.w;
    }
#endif
}
#endif

// Fetches pixels 4·quad … 4·quad + 3 of a row; without READ_WORDS it fetches those at columns at[0 … 3].
static inline void fetch_quad_at(__global const STORED *in, int row, int quad, const int *at, int height, int width,
                                 Quad *four) {
    size_t first = (size_t)(uint)row * (uint)width;  // 32 bits times 32 bits: 64-bit integers are slow on GPUs
#ifdef READ_WORDS
    fetch_words(in, first + (uint)(4 * quad), (size_t)height * width, four);
#else
    UNROLLED
    for (int p = 0; p < 4; p++) fetch(in, first + (uint)at[p], (size_t)height * width, four->values + p * CHANNELS);
#endif
}

// Fetches pixels 4·quad … 4·quad + 3 of a row; beyond its end the last pixel is repeated.
static inline void fetch_quad(__global const STORED *in, int row, int quad, int height, int width, Quad *four) {
    int at[4];
    UNROLLED
    for (int p = 0; p < 4; p++) at[p] = min(4 * quad + p, width - 1);
    fetch_quad_at(in, row, quad, at, height, width, four);
}
