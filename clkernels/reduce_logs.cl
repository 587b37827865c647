// Σ log2 Y of an image's luminance Y = Σ_c weight_c · colour_c, and how many Y there are: those of 2^-126 or more that are
// finite. What reduce.cl tells of them in one of its sums, with a fifth of its instructions a pixel.
// After lanes.cl (WIDTH=1), colour.cl, decode.cl and layout.cl, of whose pixels a work-item takes four at a time.
//
// Without a logarithm per pixel: four Y are multiplied, and to a product of 1 … 2 that a work-item keeps; as often the
// exponent leaves it and joins the others, as integers. One log2 of the product at the end. Everything is added in an order
// that sizes alone decide: the same bits on every run.
//
// -D COLOURS=1|3

#define TOGETHER 2  // fetches of a work-item that are on their way at once
#define LEAST 0x1p-30f
#define MOST 0x1p126f

typedef struct {
    float mantissas;  // Σ log2 of the products
    int exponents;
    uint positive, padding;
} Logs;

static inline float luminance(const float *v, float4 weight) {
#if COLOURS == 1
    return v[0];
#else
    return fma(weight.x, v[0], fma(weight.y, v[1], weight.z * v[2]));
#endif
}

// product · 2^exponents gains a factor, and becomes one of 1 … 2 again.
static inline void multiply(float *product, int *exponents, float by) {
    int bits = as_int(*product * by);
    *exponents += bits >> 23;
    *product = as_float((bits & 0x7fffff) | 0x3f800000);
}

// Any group size; a record of each group in partial. tree: a record of each work-item.
__kernel void reduce_logs(__global const STORED *restrict image, __global Logs *partial, int size, float4 weight,
                          __global const float *restrict table, float scale, __local Logs *tree) {
    int item = get_local_id(0), items = get_local_size(0), step = get_global_size(0), quads = (size + 3) / 4;
    float product = 1.0f;
    int exponents = 0, factors = 0, others = 0, taken = 0;  // exponents: each with its 127
    for (int i = get_global_id(0); i < quads; i += step * TOGETHER) {
        Quad next[TOGETHER];
        UNROLLED
        for (int k = 0; k < TOGETHER; k++) fetch_quad(image, 0, min(i + k * step, quads - 1), 1, size, &next[k]);
        UNROLLED
        for (int k = 0; k < TOGETHER; k++) {
            int count = clamp(size - 4 * min(i + k * step, quads), 0, 4);
            STORED four[4 * CHANNELS];
            float y[4];
            unpack_quad(next[k], four);
            UNROLLED
            for (int p = 0; p < 4; p++) {
                float v[CHANNELS];
                decode(four + p * CHANNELS, table, scale, v);
                y[p] = luminance(v, weight);
            }
            float all = (y[0] * y[1]) * (y[2] * y[3]);  // NaN where one is
            if (count == 4 && fmin(fmin(y[0], y[1]), fmin(y[2], y[3])) >= LEAST && all <= MOST) {
                multiply(&product, &exponents, all);
                factors++;
            } else {
                UNROLLED
                for (int p = 0; p < 4; p++) {
                    if (p >= count) continue;
                    int bits = as_int(y[p]), positive = bits >= 0x00800000 && bits < 0x7f800000;
                    others += !positive;
                    if (!positive) continue;
                    exponents += (bits >> 23) - 127;
                    multiply(&product, &exponents, as_float((bits & 0x7fffff) | 0x3f800000));
                    factors++;
                }
            }
            taken += count;
        }
    }
    tree[item] = (Logs){log2(product), exponents - 127 * factors, (uint)(taken - others), 0};
    for (int n = items; n > 1; n = (n + 1) / 2) {
        int half_n = (n + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item + half_n < n) {
            tree[item].mantissas += tree[item + half_n].mantissas;
            tree[item].exponents += tree[item + half_n].exponents;
            tree[item].positive += tree[item + half_n].positive;
        }
    }
    if (item == 0) partial[get_group_id(0)] = tree[0];
}
