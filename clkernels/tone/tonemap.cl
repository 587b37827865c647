// Exposure, operator, transfer and dither in one pass, from planes or a file's pixels to planes or pixels of any type.
// Alpha is copied. The file stands after dither.cl, tonemap_operators.cl, [lut.cl,] tonemap_light.cl, and the files that take and
// give pixels: take_quads.cl and give_quads.cl, or take_lanes.cl and give_lanes.cl.
//
// -D CHANNELS=n           is the number of channels
// -D OPERATOR=op_x, LUT, COLOURS=1|3   are as in tonemap_light.cl
// -D SRGB | GAMMA | PQ    is the transfer; without any it is linear
// -D DITHER, BLUE=n       adds the noise of dither.cl
// -D BALANCE              does white balance by `white`, before exposure
// -D CODES=n              is the number of entries of `codes`, which a group copies to local memory
// -D GAINS                gives each pixel a gain, beside the exposure of all

// Encodes display light, 0 or more, to the signal.
static inline FLOAT encoded(FLOAT v, float gamma) {
#if defined(SRGB)  // IEC 61966-2-1
    return select(1.055f * power(v, 1.0f / 2.4f) - 0.055f, 12.92f * v, v <= 0.0031308f);
#elif defined(GAMMA)
    return power(v, 1.0f / gamma);
#elif defined(PQ)
    // SMPTE ST 2084: ((c1 + c2 y) / (1 + c3 y))^m2, y = (cd/m² / 10000)^m1, with 1 at 203 cd/m² (ITU-R BT.2408).
    // The base is 1 − (1 − c1)(1 − y) / (1 + c3 y), because the power, 78.84, magnifies its rounding error.
    FLOAT y = power(fmin(v * 0.0203f, 1.0f), 0.1593017578125f);
    return exp(78.84375f * log1p(-0.1640625f * (1.0f - y) / (1.0f + 18.6875f * y)));
#else
    return v;
#endif
}

static inline FLOAT signal(FLOAT v, UINT i, uint channel, float gamma, float code, uint seed, uint width,
                           __global const float *noise) {
    v = encoded(v, gamma);
#ifdef DITHER
    FLOAT noisy = v + code * noise_of(i, channel, seed, width, noise);
    v = select(noisy, clamp(noisy, 0.0f, 1.0f), v <= 1.0f);  // noise alone must not leave the range
#endif
    return v;
}

static inline void repair_all(FLOAT v[VECTORS][CHANNELS], float most, uint first, uint size, __local uint *counted) {
    UNROLLED
    for (int k = 0; k < VECTORS; k++) {
        count_repairs(v[k], COUNT_IN(k, first, size), counted);
        repair(v[k], most);
    }
}

// A group takes `times` times as many neighbours as its work-items take at once. `lost` is as in encode.cl. `repaired`
// counts pixels with a NaN, with an infinity, with negative light (each counts once, as the first of these). `before` is
// the number of pixels of the picture that stand before these. Groups of any size.
__kernel void tonemap(__global const STORED *restrict in, __global MADE *restrict out, int pixels, int width,
                      uint before, int times,
                      float exposure, float8 p, float gamma, float code, uint seed, __global const float *restrict table,
                      float scale, Numbers stages, __global const uint *restrict codes, __global uint *lost, __global uint *repaired,
                      __global const float *restrict noise, __global const float4 *restrict lut,
                      __global const float *restrict gains, float16 white) {
    __local uint counted[5];
    int item = get_local_id(0), items = get_local_size(0);
    for (int k = item; k < 5; k += items) counted[k] = 0;
#ifdef CODES
    __local uint entries[CODES];
    for (int k = item; k < CODES; k += items) entries[k] = codes[k];
#else
    __global const uint *entries = codes;
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    uint size = pixels, step = items * TAKEN, first = (uint)get_group_id(0) * step * times;
    uint end = min(size, first + step * times), i = first + item * TAKEN;
    float most = most_light(exposure);
    INT losses[2] = {0, 0};
    Taken next;
    if (i < end) next = take(in, i, size);
    for (; i < end; i += step) {
        FLOAT v[VECTORS][CHANNELS];
        light_of(next, table, scale, stages, v);
        if (i + step < end) next = take(in, i + step, size);  // arrives while these pixels are computed
        INT plain = ordinary(v[0], as_uint(most));
        UNROLLED
        for (int k = 1; k < VECTORS; k++) plain &= ordinary(v[k], as_uint(most));
        if (!all_lanes(plain)) repair_all(v, most, i, size, counted + 2);  // this is rare
        UNROLLED
        for (int k = 0; k < VECTORS; k++) {
#ifdef BALANCE
            balance(v[k], white, most);
#endif
#ifdef GAINS
            for (int c = 0; c < COLOURS; c++) v[k][c] *= exposure;  // first: gain · exposure might overflow
            displayed(v[k], load(gains + min(PLACE_OF(k, i), size - 1), COUNT_IN(k, i, size)), p, lut);
#else
            displayed(v[k], exposure, p, lut);
#endif
#if defined(SRGB) || defined(GAMMA) || defined(PQ) || defined(DITHER)
            UINT at = TO_UINT(LANE_INDEX) + (before + PLACE_OF(k, i));
            for (int c = 0; c < COLOURS; c++) v[k][c] = signal(v[k][c], at, c, gamma, code, seed, width, noise);
#endif
        }
        give(v, out, i, size, entries, losses);
    }
    for (int k = 0; k < 2; k++) {
        int sum = lanes_sum(losses[k]);
        if (sum) atomic_add(&counted[k], (uint)sum);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = item; k < 5; k += items)
        if (counted[k]) atomic_add(k < 2 ? &lost[k] : &repaired[k - 2], counted[k]);
}
