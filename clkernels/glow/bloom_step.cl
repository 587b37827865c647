// A step down of bloom's mip chain without weights. Along rows and columns, the five boxes of bloom_down.cl are
//     (e eᵀ + 4 m mᵀ) / 128      with e = [1 1 2 2 1 1] the two boxes at the edges, m = [0 1 1 1 1 0] the middle one
// of the six samples about 2i and 2i + 1. edges_and_middle sums them along a row with e and with m.

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
