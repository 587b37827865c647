// A pixel of a file, CHANNELS values of type PIXEL → floats. After lanes.cl (WIDTH=1) and colour.cl.
//
// -D PIXEL=uchar|ushort|float   -D CHANNELS=n   -D COLOURS=n (channels that are not alpha)
// -D HALF                 PIXEL is ushort, the bits of half floats: they need no extension so
// -D TABLE                colours by a table of linear values, one for each code
// -D SPACE=__global|__local   where the table is
// -D LINEARISE, ENCODE    sRGB or its inverse by formula
// -D UNSCALED             `scale` is 1, of which floats need no product
// -D PREMULTIPLY          colours times alpha, after that

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

static inline void decode(const PIXEL *pixel, SPACE const float *table, float scale, float *v) {
#ifdef TABLE
    __attribute__((opencl_unroll_hint))  // for CPUs: what gathers values from a table takes longer than one by one
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
