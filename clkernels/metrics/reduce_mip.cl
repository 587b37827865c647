// The statistics of reduce.cl and, in the same reading, the first level of a mip chain: planes of half the size,
// rounded up, whose pixels are the means of 2 × 2 pixels, or of as many as exist at the edges. Only colours are taken.
// The file stands after reduce.cl.
//
// -D READ_WORDS   is as in layout.cl: rows have a multiple of four pixels

// The means of two values each, or the first value where there is no second.
static inline FLOAT mean_of(FLOAT a, FLOAT b, INT two) {
    return select(a, 0.5f * a + 0.5f * b, two);  // halved first, as the sum might overflow
}

// The means of neighbours in two vectors; the first `count` values exist.
static inline FLOAT halved(FLOAT a, FLOAT b, int count) {
#if WIDTH == 1
    return mean_of(a, b, count > 1);
#else
    return mean_of((FLOAT)(a.even, b.even), (FLOAT)(a.odd, b.odd), 2 * LANE_INDEX + 1 < (INT)count);
#endif
}

static inline void store_halved(const FLOAT *v, __global float *to, int count) {
#if WIDTH == 1 && defined(READ_WORDS)
    *(__global float2 *)to = (float2)(v[0], v[1]);
#else
    UNROLLED
    for (int k = 0; k < FOUR / 2; k++)
        if (k * WIDTH < count) store(v[k], to + k * WIDTH, count - k * WIDTH);
#endif
}

// A work-item takes cells of FOUR times WIDTH neighbours in two rows; a group owns `span` consecutive cells of the
// image. Groups may have any size; the other arguments are as in reduce_direct.
__kernel void reduce_mip(__global const STORED *restrict image, __global float *restrict mip,
                         __global Statistics *partial, __global uint *histogram, int width, int height, int2 whole,
                         int span, float4 weight, float scale, __global const float *restrict table, float decoding,
                         Numbers stages, __local Statistics *tree) {
    __local uint bins[COPIES * COUNTED * BINS];
    int item = get_local_id(0), items = get_local_size(0);
    uint size = (uint)width * height, rows = ((uint)height + 1) / 2, columns = ((uint)width + 1) / 2;
    uint across = ((uint)width + FOUR * WIDTH - 1) / (FOUR * WIDTH);  // cells in a row
    uint first = (uint)get_group_id(0) * span, last = min(across * rows, first + span);
    clear_bins(bins, item, items);
    Lanes lanes = empty_lanes();
    for (uint cell = first + item; cell < last; cell += items) {
        uint row = cell / across, x = (cell - row * across) * (FOUR * WIDTH);
        int two = 2 * row + 1 < (uint)height, count = (int)min((uint)width - x, (uint)(FOUR * WIDTH));
        uint place[2] = {2 * row * width + x, (2 * row + two) * width + x};
        FLOAT v[2][FOUR][CHANNELS];
        UNROLLED
        for (int r = 0; r < 2; r++) light_of_four(image, place[r], size, table, decoding, stages, v[r]);
        UNROLLED
        for (int r = 0; r < 2; r++) {
            FLOAT y[FOUR];
            UNROLLED
            for (int k = 0; k < FOUR; k++) y[k] = luminance(v[r][k], weight);
            int taken = r == 0 || two ? count : 0;
            lanes.taken += taken;
            take_four(&lanes, y, taken, place[r], width, whole, scale, bins);
        }
        UNROLLED
        for (int c = 0; c < COLOURS; c++) {
            FLOAT means[FOUR];
            UNROLLED
            for (int k = 0; k < FOUR; k++) means[k] = two ? mean_of(v[0][k][c], v[1][k][c], (INT)-1) : v[0][k][c];
            UNROLLED
            for (int k = 0; k < FOUR / 2; k++)
                means[k] = halved(means[2 * k], means[2 * k + 1], count - 2 * k * WIDTH);
            store_halved(means, mip + ((size_t)c * rows + row) * columns + x / 2, (count + 1) / 2);
        }
    }
    tree[item] = folded(lanes);
    merge_group(tree, item, items);
    if (item == 0) partial[get_group_id(0)] = tree[0];
    publish_bins(bins, histogram, item, items);
}
