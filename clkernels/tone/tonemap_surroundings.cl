// The luminance after exposure, from planes or a file's pixels, which local operators average around a pixel. The file
// stands after take_quads.cl or take_lanes.cl, tonemap_operators.cl and tonemap_light.cl, which repairs the light.
// Pixels of luminance `beyond` or more do not affect others; infinite light becomes `beyond`.
//
// -D BALANCE   does white balance by `white` first
//
// A work-item takes TAKEN pixels of `pixels`; groups may have any size.

static inline FLOAT luminance_of(FLOAT *v, float exposure, float16 white) {
    repair(v, most_light(exposure));
#ifdef BALANCE
    balance(v, white, most_light(exposure));
#endif
#if COLOURS == 1
    return v[0] * exposure;
#else
    return luminance(colour(v[0], v[1], v[2])) * exposure;
#endif
}

// gain: 1/beyond for pixels beyond; for others −1, and negative means that tonemap_local.cl is still to find it.
__kernel void surroundings(__global const STORED *restrict in, __global float *around, __global float *gain, int pixels,
                           float exposure, float beyond, __global const float *restrict table, float scale,
                           Numbers stages, float16 white) {
    uint size = pixels, i = (uint)get_global_id(0) * TAKEN;
    if (i >= size) return;
    FLOAT v[VECTORS][CHANNELS];
    light_of(take(in, i, size), table, scale, stages, v);
    for (int k = 0; k < VECTORS; k++) {
        int count = COUNT_IN(k, i, size);
        if (count <= 0) continue;
        FLOAT l = luminance_of(v[k], exposure, white);
        INT is_beyond = l >= beyond;
        store(select(l, (FLOAT)0.0f, is_beyond), around + PLACE_OF(k, i), count);
        store(select((FLOAT)-1.0f, (FLOAT)(1.0f / beyond), is_beyond), gain + PLACE_OF(k, i), count);
    }
}

// Gives binary logarithms; NaN for luminance below `darkest`, ∞ for luminance of `beyond` or more.
__kernel void logarithms(__global const STORED *restrict in, __global float *out, int pixels, float exposure, float darkest,
                         float beyond, __global const float *restrict table, float scale,
                         Numbers stages, float16 white) {
    uint size = pixels, i = (uint)get_global_id(0) * TAKEN;
    if (i >= size) return;
    FLOAT v[VECTORS][CHANNELS];
    light_of(take(in, i, size), table, scale, stages, v);
    for (int k = 0; k < VECTORS; k++) {
        int count = COUNT_IN(k, i, size);
        if (count <= 0) continue;
        FLOAT l = luminance_of(v[k], exposure, white), known = log2(fmax(l, darkest));
        known = select(known, (FLOAT)INFINITY, l >= beyond);
        store(select(known, (FLOAT)NAN, l < darkest), out + PLACE_OF(k, i), count);
    }
}
