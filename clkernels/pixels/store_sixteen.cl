// store_sixteen stores the sixteen values of load_sixteen.cl, to planar float or to a file's pixels. The file stands
// after lanes.cl (WIDTH=8); load_sixteen.cl may stand before it.
//
// -D PIXEL=type      is the type of a file's values, for which this file stands after encode.cl; its CHANNELS are a
//                    pixel's where there is alpha (2 or 4), else 16. Without PIXEL values are planar float.
// -D INTERLEAVED=n   is the number of channels of a pixel
// -D COLOURS=n      is the number of channels that are not alpha
// -D UNPREMULTIPLY   divides colours by alpha first

#define UNROLLED __attribute__((opencl_unroll_hint))
#ifndef PIXEL
#define PLANAR
#define PIXEL float
#define INTERLEAVED 1
#endif

// Stores the first `count` values. `losses` is `lost` of encode.cl.
static inline void store_sixteen(float16 values, __global PIXEL *to, int count, __global const uint *codes,
                                 INT *losses) {
    PIXEL pixels[16];
#ifdef PLANAR
    if (count >= 16) {
        vstore16(values, 0, to);
        return;
    }
    vstore16(values, 0, pixels);
#else
    UNROLLED
    for (int h = 0; h < 16; h += 8) {
        float8 v = h ? values.hi : values.lo;
        int8 present = LANE_INDEX + h < (int8)count;
#if CHANNELS == COLOURS
        vstore8(encode(v, 1, codes, present, losses), 0, pixels + h);
#else
        int8 is_alpha = LANE_INDEX % CHANNELS == (int8)COLOURS, is_colour = LANE_INDEX % CHANNELS != (int8)COLOURS;
#ifdef UNPREMULTIPLY
        float8 alpha = CHANNELS == 2 ? v.s11335577 : v.s33337777;
        v = select(v, straight(v, alpha), is_colour);
#endif
        PIXEL colours[8], alphas[8];
        vstore8(encode(v, 1, codes, present & is_colour, losses), 0, colours);
        vstore8(encode(v, 0, codes, present & is_alpha, losses), 0, alphas);
        UNROLLED
        for (int l = 0; l < 8; l++) pixels[h + l] = l % CHANNELS == COLOURS ? alphas[l] : colours[l];
#endif
    }
#endif
    if (count >= 16) {
        for (int l = 0; l < 16; l++) to[l] = pixels[l];
    } else {
        for (int l = 0; l < count; l++) to[l] = pixels[l];
    }
}
