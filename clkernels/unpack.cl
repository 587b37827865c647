// A file's interleaved pixels (height, width, CHANNELS) of type PIXEL → planar float (channel, pixel), times scale.
//
// -D PIXEL=uchar|ushort|float   -D CHANNELS=n   -D COLOURS=n (channels that are not alpha)
// -D HALF                 PIXEL is ushort, the bits of half floats: they need no extension so
// -D TABLE                colours by a table of linear values, one for each code
// -D LINEARISE, ENCODE    sRGB or its inverse by formula
// -D PREMULTIPLY          colours times alpha, after that
// One work-item a pixel; any group size. After lanes.cl (WIDTH=1) and colour.cl.

#ifdef HALF
#define LOAD(p, i) vload_half(i, (__global const half *)(p))
#else
#define LOAD(p, i) ((float)(p)[i])
#endif

#if defined(LINEARISE)
#define CURVE(v) srgb_to_linear(v)
#elif defined(ENCODE)
#define CURVE(v) linear_to_srgb(v)
#else
#define CURVE(v) (v)
#endif

__kernel void unpack(__global const PIXEL *pixels, __global const float *table, __global float *planes,
                     int size, float scale) {
    int i = get_global_id(0);
    if (i >= size) return;
    size_t at = (size_t)i * CHANNELS;
    float v[CHANNELS];
    for (int c = 0; c < CHANNELS; c++) {
#ifdef TABLE
        v[c] = c < COLOURS ? table[pixels[at + c]] : LOAD(pixels, at + c) * scale;
#else
        v[c] = LOAD(pixels, at + c) * scale;
        if (c < COLOURS) v[c] = CURVE(v[c]);
#endif
    }
    for (int c = 0; c < CHANNELS; c++) {
#ifdef PREMULTIPLY
        if (c < COLOURS) v[c] *= v[CHANNELS - 1];
#endif
        planes[(size_t)c * size + i] = v[c];
    }
}
