// The way back of take_lanes.cl: TAKEN pixels to planes, or, after encode.cl and interleaved.cl, to a file's pixels.
// lost: see encode.cl.

#ifdef PIXEL
typedef PIXEL MADE;

static inline void give(FLOAT v[VECTORS][CHANNELS], __global MADE *out, uint first, uint size,
                        __global const uint *codes, INT *lost) {
    int count = COUNT_IN(0, first, size);
    INT present = LANE_INDEX < (INT)count;
    PIXELS pixels[CHANNELS];
    for (int c = 0; c < CHANNELS; c++) pixels[c] = encode(v[0][c], c < COLOURS, codes, present, lost);
    store_interleaved(pixels, out + (size_t)first * CHANNELS, count);
}

#else
typedef float MADE;

static inline void give(FLOAT v[VECTORS][CHANNELS], __global MADE *out, uint first, uint size,
                        __global const uint *codes, INT *lost) {
    int count = COUNT_IN(0, first, size);
    for (int c = 0; c < CHANNELS; c++) store(v[0][c], out + (size_t)c * size + first, count);
}
#endif
