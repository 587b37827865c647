// The end of bloom's mip chain (bloom_down.cl, bloom_up.cl), whose levels are too small for launches of their own: down
// from level 0 of `levels` to the last and up again,  total of a level = share · level + up(total below),  all in local
// memory. After border.cl.
//
// plane (dimension 0 counts them, a group each): level 0, which its total replaces. pyramid: floats for all levels.
// Any group size.

static inline float halved(__local const float *fine, int y, int x, int height, int width) {
    int at[6];
    for (int k = 0; k < 6; k++) at[k] = border_index(2 * x - 2 + k, width);
    float sum = 0.0f;
    for (int k = 0; k < 6; k++) {
        __local const float *row = fine + border_index(2 * y - 2 + k, height) * width;
        float middle = row[at[2]] + row[at[3]], inner = row[at[1]] + middle + row[at[4]];
        float edges = row[at[0]] + inner + middle + row[at[5]];  // of the left box and of the right one
        sum += (k == 2 || k == 3 ? 2.0f : 1.0f) * edges;
        if (k >= 1 && k <= 4) sum += 4.0f * inner;
    }
    return sum * (1.0f / 128.0f);
}

static inline float doubled(__local const float *coarse, int y, int x, int height, int width) {
    const float weights[4] = {1, 5, 7, 3};  // of an even sample; of an odd one backwards
    int at[4];
    for (int k = 0; k < 4; k++) at[k] = border_index((x + 1) / 2 - 2 + k, width);
    float sum = 0.0f;
    for (int j = 0; j < 4; j++) {
        __local const float *row = coarse + border_index((y + 1) / 2 - 2 + j, height) * width;
        float across = 0.0f;
        for (int k = 0; k < 4; k++) across = fma(weights[x & 1 ? 3 - k : k], row[at[k]], across);
        sum = fma(weights[y & 1 ? 3 - j : j], across, sum);
    }
    return sum * (1.0f / 256.0f);
}

static inline int level_size(int size, int level) { return ((size - 1) >> level) + 1; }

__kernel void small_levels(__global float *planes, __global const float *shares, int height, int width, int levels,
                           __local float *pyramid) {
    int item = get_local_id(0), items = get_local_size(0);
    __global float *plane = planes + get_group_id(0) * (size_t)height * width;
    __local float *fine = pyramid;
    for (int k = item; k < height * width; k += items) fine[k] = plane[k];
    for (int level = 1; level < levels; level++) {
        int h = level_size(height, level - 1), w = level_size(width, level - 1), columns = (w + 1) / 2;
        __local float *coarse = fine + h * w;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = item; k < (h + 1) / 2 * columns; k += items)
            coarse[k] = halved(fine, k / columns, k % columns, h, w);
        fine = coarse;
    }
    float scale = shares[levels - 1];
    for (int level = levels - 2; level >= 0; level--) {
        int h = level_size(height, level), w = level_size(width, level);
        __local float *coarse = fine;
        fine -= h * w;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = item; k < h * w; k += items) {
            float total = shares[level] * fine[k] + scale * doubled(coarse, k / w, k % w, (h + 1) / 2, (w + 1) / 2);
            if (level) fine[k] = total;
            else plane[k] = total;
        }
        scale = 1.0f;
    }
}
