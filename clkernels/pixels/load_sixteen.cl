// Sixteen neighbouring values of a row, whatever channels they are, for the vectors of a CPU: of planar float, or of a file's
// pixels. Border: see border.cl.
//
// -D PIXEL=type -D INTERLEAVED=n   pixels of n channels: after decode.cl, whose CHANNELS are a pixel's where there is alpha
//                                  (2 or 4), else 16; without these planar float

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

// From p on, of which some may be beyond the row's ends.
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
