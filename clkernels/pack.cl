// Planar float (channel, pixel) → a file's interleaved pixels (height, width, CHANNELS). After encode.cl.
//
// -D CHANNELS=n   -D COLOURS=n (channels that are not alpha)   -D UNPREMULTIPLY   colours over alpha, first
// A work-item converts `times` times WIDTH pixels, a group neighbouring ones; any group size.

// Of WIDTH pixels, given channel by channel, the first `count`, interleaved. In whole vectors where all exist: one
// element after the other would take twice the time of the arithmetic.
static inline void store_interleaved(const PIXELS *v, __global PIXEL *to, int count) {
#if WIDTH == 1
    for (int c = 0; c < CHANNELS; c++) to[c] = v[c];
#else
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
#endif
}

// lost: see encode.cl.
__kernel void pack(__global const float *planes, __global const uint *codes, __global PIXEL *pixels,
                   __global uint *lost, int size, int times) {
    INT sums[2] = {0, 0};
    size_t step = get_local_size(0) * WIDTH, first = get_group_id(0) * step * times;
    size_t end = min((size_t)size, first + step * times);
    for (size_t i = first + get_local_id(0) * WIDTH; i < end; i += step) {
        int count = min((size_t)WIDTH, size - i);
        INT present = LANE_INDEX < (INT)count;
        PIXELS pixel[CHANNELS];
#ifdef UNPREMULTIPLY
        FLOAT alpha = load(planes + (size_t)(CHANNELS - 1) * size + i, count);
        FLOAT over = select((FLOAT)1.0f, 1.0f / alpha, alpha > (FLOAT)0.0f);
#endif
        for (int c = 0; c < CHANNELS; c++) {
            FLOAT v = load(planes + (size_t)c * size + i, count);
#ifdef UNPREMULTIPLY
            if (c < COLOURS) v *= over;
#endif
            pixel[c] = encode(v, c < COLOURS, codes, present, sums);
        }
        store_interleaved(pixel, pixels + i * CHANNELS, count);
    }
    for (int k = 0; k < 2; k++) {
        int sum = lanes_sum(sums[k]);
        if (sum) atomic_add(&lost[k], (uint)sum);
    }
}
