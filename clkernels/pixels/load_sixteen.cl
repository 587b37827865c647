// sixteen loads sixteen neighbouring values of a row, whichever channels they belong to, for the vectors of a CPU, from
// planar float or from a file's pixels. The border is as in border.cl.
//
// -D PIXEL=type      is the type of a file's values, for which this file stands after decode.cl; its CHANNELS are a
//                    pixel's where there is alpha (2 or 4), else 16. Without PIXEL values are planar float.
// -D INTERLEAVED=n   is the number of channels of a pixel

#define UNROLLED __attribute__((opencl_unroll_hint))

#ifndef PIXEL
#define PLANAR
#define PIXEL float
#define INTERLEAVED 1
#define CHANNELS 16
static inline void decode(const float *values, __global const float *table, float scale, float *v) {
    vstore16(vload16(0, values), 0, v);
}
#endif

static inline int floor_div(int a, int b) { return a / b - (a % b < 0); }

// Loads the values from p on, some of which may be beyond the row's ends.
static inline float16 sixteen(__global const PIXEL *row, int p, int width, float cval, __global const float *table,
                              float scale) {
    PIXEL pixels[16];
    float v[16];
    int inside = p >= 0 && p + 16 <= width * INTERLEAVED;
    if (inside) {
#ifdef PLANAR
        return vload16(0, row + p);
#endif
        for (int l = 0; l < 16; l++) pixels[l] = row[p + l];
    } else {
        for (int l = 0; l < 16; l++) {
            int x = floor_div(p + l, INTERLEAVED), within = border_column(x, width);
            pixels[l] = row[max(0, p + l + (within - x) * INTERLEAVED)];
        }
    }
    UNROLLED
    for (int c = 0; c < 16; c += CHANNELS) decode(pixels + c, table, scale, v + c);
#ifdef BORDER_CONSTANT
    if (!inside)
        for (int l = 0; l < 16; l++)
            if (p + l < 0 || p + l >= width * INTERLEAVED) v[l] = cval;
#endif
    return vload16(0, v);
}
