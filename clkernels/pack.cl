// Planar float (channel, pixel) → a file's interleaved pixels (height, width, CHANNELS) of type PIXEL.
//
// -D PIXEL=uchar|ushort|float   -D CHANNELS=n   -D COLOURS=n (channels that are not alpha)
// -D MAXIMUM=255|65535    integer PIXEL: its largest value
// -D HALF                 PIXEL is ushort, the bits of half floats: they need no extension so
// -D TABLE                sRGB codes of 8 bits by their exact thresholds
// -D LINEARISE, ENCODE    sRGB or its inverse by formula
// -D UNPREMULTIPLY        colours over alpha, before that
// A work-item converts several times WIDTH pixels; any group size. After lanes.cl and colour.cl.

#if defined(LINEARISE)
#define CURVE(v) srgb_to_linear(v)
#elif defined(ENCODE)
#define CURVE(v) linear_to_srgb(v)
#else
#define CURVE(v) (v)
#endif

// lost[0] counts finite values that did not fit the type, lost[1] those that were not finite.
__kernel void pack(__global const float *planes, __global const float2 *bins, __global PIXEL *pixels,
                   __global uint *lost, int size) {
    uint clipped = 0, not_finite = 0;
    for (size_t i = get_global_id(0) * WIDTH; i < (size_t)size; i += get_global_size(0) * WIDTH) {
        int count = min((size_t)WIDTH, size - i);
        INT present = LANE_INDEX < (INT)count;
        PIXEL block[WIDTH * CHANNELS];  // interleaved here, to leave in one stretch
#ifdef UNPREMULTIPLY
        FLOAT alpha = load(planes + (size_t)(CHANNELS - 1) * size + i, count);
        FLOAT over = select((FLOAT)1.0f, 1.0f / alpha, alpha > (FLOAT)0.0f);
#endif
        for (int c = 0; c < CHANNELS; c++) {
            FLOAT v = load(planes + (size_t)c * size + i, count);
#ifdef UNPREMULTIPLY
            if (c < COLOURS) v *= over;
#endif
            INT finite = isfinite(v);
#ifdef MAXIMUM
            not_finite += lanes_set(present & !finite);
#endif
#ifdef TABLE
            if (c < COLOURS) {
                // Clipped is what rounding would take out of the range, not what a rounding error took there.
                clipped += lanes_set(present & finite & ((v < -0.5f / (255.0f * 12.92f)) | (v > 1.0045f)));
                for (int k = 0; k < WIDTH; k++) block[k * CHANNELS + c] = linear_to_srgb_code(lane(v, k), bins);
                continue;
            }
#else
            if (c < COLOURS) v = CURVE(v);
#endif
#if defined(MAXIMUM)
            FLOAT level = v * (float)MAXIMUM;
            clipped += lanes_set(present & finite & ((level < -0.5f) | (level > (float)MAXIMUM + 0.5f)));
            level = select(clamp(level, (FLOAT)0.0f, (FLOAT)(float)MAXIMUM), (FLOAT)0.0f, isnan(level));
            INT code = TO_INT(rint(level));
            for (int k = 0; k < WIDTH; k++) block[k * CHANNELS + c] = int_lane(code, k);
#elif defined(HALF)
            clipped += lanes_set(present & finite & (fabs(v) > 65504.0f));
            v = select(v, clamp(v, (FLOAT)-65504.0f, (FLOAT)65504.0f), finite);
            for (int k = 0; k < WIDTH; k++) vstore_half_rte(lane(v, k), k * CHANNELS + c, (half *)block);
#else
            for (int k = 0; k < WIDTH; k++) block[k * CHANNELS + c] = lane(v, k);
#endif
        }
        __global PIXEL *to = pixels + i * CHANNELS;
        if (count == WIDTH) {
            for (int k = 0; k < WIDTH * CHANNELS; k++) to[k] = block[k];
        } else {
            for (int k = 0; k < count * CHANNELS; k++) to[k] = block[k];
        }
    }
    if (clipped) atomic_add(&lost[0], clipped);
    if (not_finite) atomic_add(&lost[1], not_finite);
}
