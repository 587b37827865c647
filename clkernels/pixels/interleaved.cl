// Stores the first `count` of WIDTH pixels, given channel by channel, as interleaved pixels. The file stands after
// encode.cl, where WIDTH is more than 1. Full sets go out as whole vectors: single elements would take twice the time of
// the arithmetic.
static inline void store_interleaved(const PIXELS *v, __global PIXEL *to, int count) {
    if (count < WIDTH) {
        PIXEL s[WIDTH];
        for (int c = 0; c < CHANNELS; c++) {
            vstore8(v[c], 0, s);
            for (int k = 0; k < count; k++) to[k * CHANNELS + c] = s[k];
        }
        return;
    }
    PIXELS a = v[0];
#if CHANNELS == 1
    vstore8(a, 0, to);
#elif CHANNELS == 2
    PIXELS b = v[1];
    vstore8((PIXELS)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3), 0, to);
    vstore8((PIXELS)(a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7), 1, to);
#elif CHANNELS == 3
    PIXELS b = v[1], c = v[2];
    vstore8((PIXELS)(a.s0, b.s0, c.s0, a.s1, b.s1, c.s1, a.s2, b.s2), 0, to);
    vstore8((PIXELS)(c.s2, a.s3, b.s3, c.s3, a.s4, b.s4, c.s4, a.s5), 1, to);
    vstore8((PIXELS)(b.s5, c.s5, a.s6, b.s6, c.s6, a.s7, b.s7, c.s7), 2, to);
#else
    PIXELS b = v[1], c = v[2], d = v[3];
    vstore8((PIXELS)(a.s0, b.s0, c.s0, d.s0, a.s1, b.s1, c.s1, d.s1), 0, to);
    vstore8((PIXELS)(a.s2, b.s2, c.s2, d.s2, a.s3, b.s3, c.s3, d.s3), 1, to);
    vstore8((PIXELS)(a.s4, b.s4, c.s4, d.s4, a.s5, b.s5, c.s5, d.s5), 2, to);
    vstore8((PIXELS)(a.s6, b.s6, c.s6, d.s6, a.s7, b.s7, c.s7, d.s7), 3, to);
#endif
}
