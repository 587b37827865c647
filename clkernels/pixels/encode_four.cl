// encode_four converts four neighbouring values of light to a Raw word of fours.cl. The file stands after fours.cl and,
// for a file's pixels, after encode.cl.
//
// -D COLOURS=n      is the number of channels that are not alpha
// -D UNPREMULTIPLY   divides colours by alpha first

// `count` is how many of the values exist. `lost` is as in encode.cl.
static inline Raw encode_four(float *v, CODES_SPACE const uint *codes, int count, int *lost) {
    PIXEL four[4];
    UNROLLED
    for (int c = 0; c < 4; c += CHANNELS) {
#ifdef UNPREMULTIPLY
        for (int k = 0; k < COLOURS; k++) v[c + k] = straight(v[c + k], v[c + CHANNELS - 1]);
#endif
        encode_pixel(v + c, codes, count - c, lost, four + c);
    }
    return pack_four(four);
}
