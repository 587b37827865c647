// What medians are taken of, and the order of it. NaN is the largest value of all, as in numpy.sort.
// Rows (row, column, channel): `width` counts columns times channels; neighbours are CHANNELS apart.
// Border: see border.cl; outside (constant) counts as cval.
//
// -D TYPE=x       of the pixels; floats as whole numbers of as many bits
// -D NAN_BITS=x   floats: of a NaN   -D INFINITE_BITS=x   of infinity   -D MOST_BITS=x   all but the sign
// -D CHANNELS=n   -D BORDER_x

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) < (b) ? (b) : (a))

// Floats as whole numbers of the same order (negative ones' magnitude is turned round), all NaN as one; and back.
#ifdef NAN_BITS
#define ORDERED(T, v) ((v) ^ ((v) >> (T)(8 * sizeof(TYPE) - 1) & (T)MOST_BITS))
#define KEY(T, v) (((v) & (T)MOST_BITS) > (T)INFINITE_BITS ? (T)NAN_BITS : ORDERED(T, v))
#else
#define ORDERED(T, v) (v)
#define KEY(T, v) (v)
#endif

// What stands at element `at` of a row, or beyond it.
static inline TYPE element(__global const TYPE *in, int at, int width, TYPE cval) {
    if (at < 0 || at >= width) {
        int pixel = at >= 0 ? at / CHANNELS : -1 - (-1 - at) / CHANNELS, channel = at - pixel * CHANNELS;
        pixel = border_column(pixel, width / CHANNELS);
        if (pixel < 0) return cval;
        at = pixel * CHANNELS + channel;
    }
    return in[at];
}
