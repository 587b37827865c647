// give stores the TAKEN pixels of take_lanes.cl: to planes, or to a file's pixels, for which this file stands after
// encode.cl and interleaved.cl. `lost` is as in encode.cl.

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
