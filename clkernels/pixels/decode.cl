// decode converts a pixel of a file, CHANNELS values of type PIXEL, to floats. The file stands after lanes.cl (WIDTH=1)
// and colour.cl.
//
// -D PIXEL=uchar|ushort|float   is the type of a file's values
// -D CHANNELS=n                 is the number of values of a pixel
// -D COLOURS=n                  is the number of channels that are not alpha
// -D HALF                       PIXEL is ushort and holds the bits of half floats, so that no extension is needed
// -D TABLE                      takes colours from a table of linear values, one for each code
// -D LINEARISE                  decodes sRGB by its formula
// -D ENCODE                     encodes to sRGB by its formula
// -D UNSCALED                   leaves out the product with `scale`, which is 1
// -D PREMULTIPLY                multiplies colours by alpha, after all that

#ifdef HALF
#define VALUE(p) vload_half(0, (const half *)(p))
#else
#define VALUE(p) ((float)*(p))
#endif

#ifdef UNSCALED
#define SCALED(v) (v)
#else
#define SCALED(v) ((v) * scale)
#endif

#if defined(LINEARISE)
#define LIGHT(v) srgb_to_linear(v)
#elif defined(ENCODE)
#define LIGHT(v) linear_to_srgb(v)
#else
#define LIGHT(v) (v)
#endif

static inline void decode(const PIXEL *pixel, __global const float *table, float scale, float *v) {
#ifdef TABLE
    __attribute__((opencl_unroll_hint))  // for CPUs: vector gathers from the table take longer than single loads
#endif
    for (int c = 0; c < CHANNELS; c++) {
#ifdef TABLE
        v[c] = c < COLOURS ? table[pixel[c]] : SCALED(VALUE(pixel + c));
#else
        v[c] = SCALED(VALUE(pixel + c));
        if (c < COLOURS) v[c] = LIGHT(v[c]);
#endif
    }
#ifdef PREMULTIPLY
    for (int c = 0; c < COLOURS; c++) v[c] *= v[CHANNELS - 1];
#endif
}
