// The end of bloom's mip chain (bloom_down.cl, bloom_up.cl), whose levels are too small for launches of their own. It
// goes down from level 0 of `levels` to the last and up again,  total of a level = share · level + up(total below), 
// all in local memory. The file stands after reflected.cl.
//
// A step down has no weights. Along rows and columns, the five boxes of bloom_down.cl are
//     (e eᵀ + 4 m mᵀ) / 128      with e = [1 1 2 2 1 1] the two boxes at the edges, m = [0 1 1 1 1 0] the middle one
// of the six samples about 2i and 2i + 1.
//
// plane: level 0, which its total replaces; dimension 0 counts planes, each of which has a group. pyramid: floats for
// all levels. Groups may have any size.

// Sums six samples along a row with e and with m.
static inline float2 edges_and_middle(const float *v) {
    float inner = v[2] + v[3], middle = (v[1] + inner) + v[4];
    return (float2)((v[0] + middle) + (inner + v[5]), middle);
}

// Joins both sums of six rows, one below the other, to a sample of the next level.
static inline float joined(const float2 *r) {
    float edges = (r[0].x + r[1].x) + 2.0f * (r[2].x + r[3].x) + (r[4].x + r[5].x);
    float middle = (r[1].y + r[2].y) + (r[3].y + r[4].y);
    return (edges + 4.0f * middle) * (1.0f / 128.0f);
}

// Interpolates a fine sample between the tents about b and c, as in bloom_up.cl.
static inline float tents(float a, float b, float c, float d, int odd) {
    float first = a + 2.0f * b + c, second = b + 2.0f * c + d;
    return odd ? 3.0f * first + second : first + 3.0f * second;
}

// Gives a sample of the next level.
static inline float halved(__local const float *fine, int y, int x, int height, int width) {
    int at[6];
    float2 rows[6];
    for (int k = 0; k < 6; k++) at[k] = column_of(2 * x - 2 + k, width);
    for (int k = 0; k < 6; k++) {
        __local const float *row = fine + reflected(2 * y - 2 + k, height) * width;
        float v[6];
        for (int n = 0; n < 6; n++) v[n] = row[at[n]];
        rows[k] = edges_and_middle(v);
    }
    return joined(rows);
}

static inline float doubled(__local const float *coarse, int y, int x, int height, int width) {
    int at[4];
    float across[4];
    for (int k = 0; k < 4; k++) at[k] = column_of((x + 1) / 2 - 2 + k, width);
    for (int k = 0; k < 4; k++) {
        __local const float *row = coarse + reflected((y + 1) / 2 - 2 + k, height) * width;
        across[k] = tents(row[at[0]], row[at[1]], row[at[2]], row[at[3]], x & 1);
    }
    return tents(across[0], across[1], across[2], across[3], y & 1) * (1.0f / 256.0f);
}

static inline int level_size(int size, int level) { return ((size - 1) >> level) + 1; }

__kernel void small_levels(__global float *planes, __global const float *shares, int height, int width, int levels,
                           __local float *pyramid) {
    int item = get_local_id(0), items = get_local_size(0);
    __global float *plane = planes + get_group_id(0) * (size_t)height * width;
    __local float *fine = pyramid;
    for (int k = item; k < height * width; k += items) fine[k] = plane[k];
    for (int level = 1; level < levels; level++) {
        int h = level_size(height, level - 1), w = level_size(width, level - 1);
        uint columns = (w + 1) / 2;
        __local float *coarse = fine + h * w;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = item; k < (h + 1) / 2 * columns; k += items)
            coarse[k] = halved(fine, k / columns, k % columns, h, w);
        fine = coarse;
    }
    float scale = shares[levels - 1];
    for (int level = levels - 2; level >= 0; level--) {
        int h = level_size(height, level);
        uint w = level_size(width, level);
        __local float *coarse = fine;
        fine -= h * w;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = item; k < h * w; k += items) {
            float sum = shares[level] * fine[k] + scale * doubled(coarse, k / w, k % w, (h + 1) / 2, (w + 1) / 2);
            if (level) fine[k] = sum;
            else plane[k] = sum;
        }
        scale = 1.0f;
    }
}
