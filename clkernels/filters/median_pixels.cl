// The values that medians are taken of, and their order. NaN is the largest value of all, as in numpy.sort.
// Planes are (row, column, channel): `width` counts columns times channels, and neighbours are CHANNELS apart.
// The border is as in border.cl, with cval outside (constant).
//
// -D TYPE=x            is the pixels' type; floats are taken as whole numbers of as many bits
// -D NAN_BITS=x        are the bits of a NaN (floats only)
// -D INFINITE_BITS=x   are the bits of infinity
// -D MOST_BITS=x       are all bits but the sign
// -D CHANNELS=n        is the number of channels of a pixel
// -D BORDER_x

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) < (b) ? (b) : (a))

// KEY maps floats to whole numbers of the same order (a negative one's magnitude is inverted) and every NaN to one;
// ORDERED maps them back.
#ifdef NAN_BITS
#define ORDERED(T, v) ((v) ^ ((v) >> (T)(8 * sizeof(TYPE) - 1) & (T)MOST_BITS))
#define KEY(T, v) (((v) & (T)MOST_BITS) > (T)INFINITE_BITS ? (T)NAN_BITS : ORDERED(T, v))
#else
#define ORDERED(T, v) (v)
#define KEY(T, v) (v)
#endif

// The value at element `at` of a row, or beyond its ends.
static inline TYPE element(__global const TYPE *in, int at, int width, TYPE cval) {
    if (at < 0 || at >= width) {
        int pixel = at >= 0 ? at / CHANNELS : -1 - (-1 - at) / CHANNELS, channel = at - pixel * CHANNELS;
        pixel = border_column(pixel, width / CHANNELS);
        if (pixel < 0) return cval;
        at = pixel * CHANNELS + channel;
    }
    return in[at];
}
