// Four neighbouring values of a row, whichever channels they belong to, of planar float or of a file's pixels. They are
// loaded and stored as whole words (Raw), and taken apart where they are needed.
//
// -D PIXEL=type      is the type of a file's values; without it values are planar float
// -D BYTES=n         is the size of PIXEL
// -D INTERLEAVED=n   is the number of channels of a pixel
// -D ALIGNED         promises that rows begin at multiples of four values

#define UNROLLED __attribute__((opencl_unroll_hint))
#define ROLLED __attribute__((opencl_unroll_hint(1)))  // keeps a long loop's instructions within their cache

#ifndef PIXEL
#define PIXEL float
#define BYTES 4
#define INTERLEAVED 1
#define CHANNELS 4
#define CODES_SPACE __local

static inline void decode(const float *values, __global const float *table, float scale, float *v) {
    for (int c = 0; c < 4; c++) v[c] = values[c];
}

static inline void encode_pixel(const float *v, CODES_SPACE const uint *codes, int count, int *lost, float *values) {
    for (int c = 0; c < 4; c++) values[c] = v[c];
}
#endif

#if BYTES == 1
typedef uint Raw;
#define AS_RAW as_uint
#define AS_PIXELS as_uchar4
#elif BYTES == 2
typedef uint2 Raw;
#define AS_RAW as_uint2
#define AS_PIXELS as_ushort4
#else
typedef float4 Raw;
#define AS_RAW(v) (v)
#define AS_PIXELS(raw) (raw)
#endif

static inline Raw load_four(__global const PIXEL *p) {
#ifdef ALIGNED
    return *(__global const Raw *)p;
#else
    return AS_RAW(vload4(0, p));
#endif
}

// Stores the first `count` of the four values.
static inline void store_four(Raw raw, __global PIXEL *p, int count) {
#ifdef ALIGNED
    if (count > 0) *(__global Raw *)p = raw;
#else
    if (count >= 4) {
        vstore4(AS_PIXELS(raw), 0, p);
    } else {
        if (count > 0) p[0] = AS_PIXELS(raw).x;
        if (count > 1) p[1] = AS_PIXELS(raw).y;
        if (count > 2) p[2] = AS_PIXELS(raw).z;
    }
#endif
}

// Shifts take the word apart: compilers need more instructions for vectors of bytes.
static inline void unpack_four(Raw raw, PIXEL *v) {
#if BYTES == 1
    v[0] = raw, v[1] = raw >> 8, v[2] = raw >> 16, v[3] = raw >> 24;
#elif BYTES == 2
    v[0] = raw.x, v[1] = raw.x >> 16, v[2] = raw.y, v[3] = raw.y >> 16;
#else
    v[0] = raw.x, v[1] = raw.y, v[2] = raw.z, v[3] = raw.w;
#endif
}

static inline Raw pack_four(const PIXEL *v) {
#if BYTES == 1
    return v[0] | (uint)v[1] << 8 | (uint)v[2] << 16 | (uint)v[3] << 24;
#elif BYTES == 2
    return (Raw)(v[0] | (uint)v[1] << 16, v[2] | (uint)v[3] << 16);
#else
    return (Raw)(v[0], v[1], v[2], v[3]);
#endif
}
