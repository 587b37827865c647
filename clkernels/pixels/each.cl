// Planes or a file's pixels → planes or pixels of any type, pixel by pixel: light goes through the stages that light_of
// has. After what takes and gives pixels: take_quads.cl and give_quads.cl, or take_lanes.cl and give_lanes.cl.
//
// -D CODES=n    is the number of entries of `codes`, which a group copies to local memory
// -D DITHER     adds noise to colours before they are rounded to integers, but for those within 2^−18 of their range of a
//               whole one, which the rounding errors of curves are; encode.cl has no curve then. After dither.cl
//
// A group takes `times` times as many neighbours as its work-items can at once. Any group size. `lost` is as in encode.cl.
// `before` is the number of pixels of the picture that stand before these, and `width` that of its columns; `seed` and
// `noise` are as in dither.cl.

#ifdef DITHER
static inline FLOAT dithered(FLOAT v, UINT i, uint channel, uint seed, uint width, __global const float *noise) {
    FLOAT level = v * (float)MAXIMUM;
    FLOAT noisy = clamp((level + noise_of(i, channel, seed, width, noise)) / (float)MAXIMUM, 0.0f, 1.0f);
    FLOAT apart = fabs(level - TO_FLOAT(nearest(within(level, MAXIMUM))));
    return select(v, noisy, (apart > MAXIMUM * 0x1p-18f) & (v >= 0.0f) & (v <= 1.0f));
}
#endif

__kernel void each(__global const STORED *restrict in, __global MADE *restrict out, int pixels, int times,
                   __global const float *restrict table, float scale, Numbers stages,
                   __global const uint *restrict codes, __global uint *lost, int width, uint before, uint seed,
                   __global const float *noise) {
    int item = get_local_id(0), items = get_local_size(0);
#ifdef CODES
    __local uint entries[CODES];
    for (int k = item; k < CODES; k += items) entries[k] = codes[k];
    barrier(CLK_LOCAL_MEM_FENCE);
#else
    __global const uint *entries = codes;
#endif
    uint size = pixels, step = items * TAKEN, first = (uint)get_group_id(0) * step * times;
    uint end = min(size, first + step * times);
    INT losses[2] = {0, 0};
    for (uint i = first + (uint)item * TAKEN; i < end; i += step) {
        FLOAT v[VECTORS][CHANNELS];
        light_of(take(in, i, size), table, scale, stages, v);
#ifdef DITHER
        for (int p = 0; p < VECTORS; p++)
            for (int c = 0; c < COLOURS; c++)
                v[p][c] = dithered(v[p][c], TO_UINT(LANE_INDEX) + (before + i + p), c, seed, width, noise);
#endif
        give(v, out, i, size, entries, losses);
    }
#ifdef PIXEL
    for (int k = 0; k < 2; k++) {
        int sum = lanes_sum(losses[k]);
        if (sum) atomic_add(&lost[k], (uint)sum);
    }
#endif
}
