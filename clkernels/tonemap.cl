// Exposure, operator, transfer and dither in one pass over planar light (colours[, alpha]); after tonemap_operators.cl.
//
// NaN and negative light become 0, infinite light 2^60, as does all beyond it: the result is always finite.
// Gray is R = G = B, and the luminance of the result. Alpha is copied.
// repaired: pixels with a NaN, with an infinity, with negative light (each pixel counts once, as the first of these).
//
// -D OPERATOR=op_x   -D COLOURS=1|3   -D ALPHA
// -D SRGB | GAMMA | PQ for the transfer (none: linear)   -D DITHER
// One work-item a pixel; any group size.

#define BRIGHTEST 0x1p60f

static inline float3 light(__global const float *planes, size_t size, size_t i) {
#if COLOURS == 1
    return (float3)(planes[i]);
#else
    return (float3)(planes[i], planes[size + i], planes[2 * size + i]);
#endif
}

// Display light → signal. All for v ≥ 0.
static inline float encoded(float v, float gamma) {
#if defined(SRGB)  // IEC 61966-2-1
    return linear_to_srgb(v);
#elif defined(GAMMA)
    return powr(v, 1.0f / gamma);
#elif defined(PQ)
    // SMPTE ST 2084: ((c1 + c2 y) / (1 + c3 y))^m2, y = (cd/m² / 10000)^m1. Written as 1 + (c1 − 1)(1 − y) / (1 + c3 y)
    // because the power, 78.84, magnifies the base's rounding error.
    float y = powr(fmin(v * 0.0203f, 1.0f), 0.1593017578125f);
    return exp(78.84375f * log1p(-0.1640625f * (1.0f - y) / (1.0f + 18.6875f * y)));
#else
    return v;
#endif
}

// Two uniform numbers of 16 bits out of one hash, added: triangular in −1…1.
static inline float triangular(uint i, uint channel, uint seed) {
    uint h = i * 0x9E3779B1u ^ (seed * 3u + channel + 1u) * 0x85EBCA77u;
    h ^= h >> 16;
    h *= 0x7FEB352Du;
    h ^= h >> 15;
    h *= 0x846CA68Bu;
    h ^= h >> 16;
    return ((float)(h & 0xFFFFu) + (float)(h >> 16) + 1.0f) / 65536.0f - 1.0f;
}

static inline float finished(float v, uint i, uint channel, float gamma, float code, uint seed) {
    v = encoded(v, gamma);
#ifdef DITHER
    float noisy = v + code * triangular(i, channel, seed);
    v = v <= 1.0f ? clamp(noisy, 0.0f, 1.0f) : noisy;  // noise alone must not leave the range
#endif
    return v;
}

__kernel void tonemap(__global const float *in, __global float *out, __global uint *repaired, int size, float scale,
                      float white, float gamma, float code, uint seed) {
    __local uint bad[3];
    if (get_local_id(0) < 1) bad[0] = bad[1] = bad[2] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    size_t i = get_global_id(0);
    if (i < (size_t)size) {
        float3 c = light(in, size, i);
        int3 nan = isnan(c), infinite = isinf(c), negative = c < 0.0f;
        if (any(nan | infinite | negative)) atomic_inc(&bad[any(nan) ? 0 : any(infinite) ? 1 : 2]);
        // fmax(NaN, 0) is 0
        c = fmin(fmax(c, 0.0f) * scale, BRIGHTEST);
        c = OPERATOR(c, white);
#if COLOURS == 1
        out[i] = finished(luminance709(c), i, 0, gamma, code, seed);
#else
        out[i] = finished(c.x, i, 0, gamma, code, seed);
        out[(size_t)size + i] = finished(c.y, i, 1, gamma, code, seed);
        out[2 * (size_t)size + i] = finished(c.z, i, 2, gamma, code, seed);
#endif
#ifdef ALPHA
        out[COLOURS * (size_t)size + i] = in[COLOURS * (size_t)size + i];
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) < 3 && bad[get_local_id(0)]) atomic_add(&repaired[get_local_id(0)], bad[get_local_id(0)]);
}
