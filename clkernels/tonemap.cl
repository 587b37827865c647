// Exposure, operator, transfer and dither in one pass over planar light (colours[, alpha]); after lanes.cl,
// tonemap_operators.cl and tonemap_light.cl. Alpha is copied.
// repaired: pixels with a NaN, with an infinity, with negative light (each pixel counts once, as the first of these).
//
// -D OPERATOR=op_x   -D COLOURS=1|3   -D ALPHA   -D WIDTH=1|8
// -D SRGB | GAMMA | PQ for the transfer (none: linear)   -D DITHER
// One work-item for WIDTH pixels; any group size.

// Display light, 0 or more → signal.
static inline FLOAT encoded(FLOAT v, float gamma) {
#if defined(SRGB)  // IEC 61966-2-1
    return select(1.055f * power(v, 1.0f / 2.4f) - 0.055f, 12.92f * v, v <= 0.0031308f);
#elif defined(GAMMA)
    return power(v, 1.0f / gamma);
#elif defined(PQ)
    // SMPTE ST 2084: ((c1 + c2 y) / (1 + c3 y))^m2, y = (cd/m² / 10000)^m1, with 1 at 203 cd/m² (ITU-R BT.2408).
    // The base as 1 − (1 − c1)(1 − y) / (1 + c3 y), because the power, 78.84, magnifies its rounding error.
    FLOAT y = power(fmin(v * 0.0203f, 1.0f), 0.1593017578125f);
    return exp(78.84375f * log1p(-0.1640625f * (1.0f - y) / (1.0f + 18.6875f * y)));
#else
    return v;
#endif
}

// Two uniform numbers of 16 bits out of one hash, added: triangular in −1…1.
static inline FLOAT triangular(UINT i, uint channel, uint seed) {
    UINT h = i * 0x9E3779B1u ^ (seed * 3u + channel + 1u) * 0x85EBCA77u;
    h ^= h >> 16;
    h *= 0x7FEB352Du;
    h ^= h >> 15;
    h *= 0x846CA68Bu;
    h ^= h >> 16;
    return (TO_FLOAT(h & 0xFFFFu) + TO_FLOAT(h >> 16) + 1.0f) / 65536.0f - 1.0f;
}

static inline FLOAT coded(FLOAT v, UINT i, uint channel, float gamma, float code, uint seed) {
    v = encoded(v, gamma);
#ifdef DITHER
    FLOAT noisy = v + code * triangular(i, channel, seed);
    v = select(noisy, clamp(noisy, 0.0f, 1.0f), v <= 1.0f);  // noise alone must not leave the range
#endif
    return v;
}

__kernel void tonemap(__global const float *in, __global float *out, __global uint *repaired, int size, float scale,
                      float white, float gamma, float code, uint seed) {
    __local uint bad[3];
    int item = get_local_id(0);
    if (item == 0) bad[0] = bad[1] = bad[2] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    size_t i = get_global_id(0) * (size_t)WIDTH, plane = size;
    if (i < plane) {
        int count = (int)min(plane - i, (size_t)WIDTH);
        FLOAT v[COLOURS];
        INT nan = 0, infinite = 0;
        for (int c = 0; c < COLOURS; c++) {
            v[c] = load(in + c * plane + i, count);
            nan |= isnan(v[c]);
            infinite |= isinf(v[c]);
        }
        INT negative = any_negative(v);
        if (any_lane(nan | infinite | negative))
            for (int k = 0; k < count; k++) {
                int kind = int_lane(nan, k) ? 0 : int_lane(infinite, k) ? 1 : int_lane(negative, k) ? 2 : 3;
                if (kind < 3) atomic_inc(&bad[kind]);
            }
        tonemapped(v, scale, white);
        UINT at = TO_UINT(LANE_INDEX) + (uint)i;
        for (int c = 0; c < COLOURS; c++)
            store(coded(v[c], at, c, gamma, code, seed), out + c * plane + i, count);
#ifdef ALPHA
        store(load(in + COLOURS * plane + i, count), out + COLOURS * plane + i, count);
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0)
        for (int kind = 0; kind < 3; kind++)
            if (bad[kind]) atomic_add(&repaired[kind], bad[kind]);
}
