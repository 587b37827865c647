// Converts planar float (channel, pixel) to a file's interleaved pixels (height, width, CHANNELS). The file stands
// after encode.cl and interleaved.cl, and with DITHER after dither.cl.
//
// -D CHANNELS=n      is the number of values of a pixel
// -D COLOURS=n       is the number of channels that are not alpha
// -D UNPREMULTIPLY   divides colours by alpha first
// -D DITHER=x        adds noise to colours before they are rounded to integers, but for values within x codes of a whole
//                    one, which the rounding errors of curves are; there is no CODE_TABLE then
//
// A work-item converts `times` times WIDTH pixels; those of a group are neighbours. Groups may have any size.
// `lost` is as in encode.cl. `before` is the number of pixels of the picture that stand before these, and `width` that of
// its columns; `seed` and `noise` are as in dither.cl.

#ifdef DITHER
static inline FLOAT dithered(FLOAT v, UINT i, uint channel, uint seed, uint width, __global const float *noise) {
    v = CURVE(v);
    FLOAT level = v * (float)MAXIMUM;
    FLOAT noisy = clamp((level + noise_of(i, channel, seed, width, noise)) / (float)MAXIMUM, 0.0f, 1.0f);
    FLOAT apart = fabs(level - TO_FLOAT(nearest(within(level, MAXIMUM))));
    return select(v, noisy, (apart > (float)DITHER) & (v >= 0.0f) & (v <= 1.0f));
}
#endif

__kernel void pack(__global const float *planes, __global const uint *codes, __global PIXEL *pixels,
                   __global uint *lost, int size, int times, int width, uint before, uint seed,
                   __global const float *noise) {
    INT sums[2] = {0, 0};
    size_t step = get_local_size(0) * WIDTH, first = get_group_id(0) * step * times;
    size_t end = min((size_t)size, first + step * times);
    for (size_t i = first + get_local_id(0) * WIDTH; i < end; i += step) {
        int count = min((size_t)WIDTH, size - i);
        INT present = LANE_INDEX < (INT)count;
        PIXELS pixel[CHANNELS];
#ifdef UNPREMULTIPLY
        FLOAT alpha = load(planes + (size_t)(CHANNELS - 1) * size + i, count);
#endif
        for (int c = 0; c < CHANNELS; c++) {
            FLOAT v = load(planes + (size_t)c * size + i, count);
#ifdef UNPREMULTIPLY
            if (c < COLOURS) v = straight(v, alpha);
#endif
#ifdef DITHER
            if (c < COLOURS) v = dithered(v, TO_UINT(LANE_INDEX) + (before + (uint)i), c, seed, width, noise);
            pixel[c] = encode(v, 0, codes, present, sums);
#else
            pixel[c] = encode(v, c < COLOURS, codes, present, sums);
#endif
        }
        store_interleaved(pixel, pixels + i * CHANNELS, count);
    }
    for (int k = 0; k < 2; k++) {
        int sum = lanes_sum(sums[k]);
        if (sum) atomic_add(&lost[k], (uint)sum);
    }
}
