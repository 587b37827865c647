// Noise of −1 … 1 with a triangular distribution, for values that are rounded to steps of 1: neither the error's mean nor
// its variance depends on them (R. Wannamaker et al., A Theory of Nonsubtractive Dither, IEEE Trans. Signal Processing
// 48, 2000). The file stands after lanes.cl.
//
// -D BLUE=n    takes the noise from a texture of n × n values (n is a power of two) that repeats; else it is a hash

// Adds two uniform 16-bit numbers from one hash: the sum is triangular in −1…1.
static inline FLOAT triangular(UINT i, uint channel, uint seed) {
    UINT h = i * 0x9E3779B1u ^ (seed * 3u + channel + 1u) * 0x85EBCA77u;
    h ^= h >> 16;
    h *= 0x7FEB352Du;
    h ^= h >> 15;
    h *= 0x846CA68Bu;
    h ^= h >> 16;
    return (TO_FLOAT(h & 0xFFFFu) + TO_FLOAT(h >> 16) + 1.0f) / 65536.0f - 1.0f;
}

#ifdef BLUE
// The texture's value for each pixel; channels read it at different offsets.
static inline FLOAT textured(UINT i, uint channel, uint width, __global const float *noise) {
    UINT y = i / width, x = i - y * width;
    UINT at = ((y + 43 * channel) % BLUE) * BLUE + (x + 21 * channel) % BLUE;
#if WIDTH == 1
    return noise[at];
#else
    float values[WIDTH];
    for (int k = 0; k < WIDTH; k++) values[k] = noise[int_lane(AS_INT(at), k)];
    return vload8(0, values);
#endif
}
#endif

// The noise of the pixels `i` of a picture of `width` columns.
static inline FLOAT noise_of(UINT i, uint channel, uint seed, uint width, __global const float *noise) {
#ifdef BLUE
    return textured(i, channel, width, noise);
#else
    return triangular(i, channel, seed);
#endif
}
