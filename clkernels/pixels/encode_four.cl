// Four neighbouring values of light → a Raw word of fours.cl, after which this stands; pixels: after encode.cl as well, and
// -D COLOURS=n -D UNPREMULTIPLY   as in pack.cl

// `count`: how many of them exist. lost: see encode.cl.
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
