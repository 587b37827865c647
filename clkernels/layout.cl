// How a kernel reads pixels as light: a file's interleaved ones (height, width, CHANNELS) by decode.cl, which stands
// before this, or planar float (CHANNELS, height, width) as it is.
//
// -D PIXEL=type …   as decode.cl says; without it: planar   -D CHANNELS=n

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
