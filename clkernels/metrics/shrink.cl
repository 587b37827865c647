// Smaller planes for structural similarity on coarser scales, and the luma of an RGB image. The file stands after
// lanes.cl and reflected.cl.
//
// Variances of flat areas need what a float32 rounds away: at 10,000 that is 5e-4. So a result is the sum of two
// floats: a plane of `out`, and, after all of these, another one of what the first one lacks. The error of a sum is
// exact (D. Knuth, "The Art of Computer Programming", vol. 2, 4.2.2: TwoSum), and so is that of a product by fma.
//
// -D LOW   planes of `in` are such sums as well

#pragma OPENCL FP_CONTRACT OFF  // an fma in TwoSum would destroy the error it is to find

typedef struct {
    FLOAT high, low;
} Two;

static inline Two two_sum(FLOAT a, FLOAT b, FLOAT low) {
    FLOAT s = a + b, t = s - a;
    Two sum = {s, low + ((a - (s - t)) + (b - t))};
    return sum;
}

static inline Two sum_of(Two p, Two q) {
    return two_sum(p.high, q.high, p.low + q.low);
}

// The sums of neighbours: p and q are 2 · WIDTH values of a row.
static inline Two across(Two p, Two q) {
#if WIDTH == 1
    return sum_of(p, q);
#else
    return two_sum((FLOAT)(p.high.even, q.high.even), (FLOAT)(p.high.odd, q.high.odd), in_pairs(p.low, q.low));
#endif
}

// Stores the values divided by n.
static inline void store_divided(Two v, float n, __global float *out, size_t beyond, int count) {
    Two sum = two_sum(v.high, v.low, 0.0f);
    FLOAT high = sum.high / n;
    store(high, out, count);
    store((fma(-high, (FLOAT)n, sum.high) + sum.low) / n, out + beyond, count);
}

// Values of a row from p on, of which `count` exist.
static inline Two load_two(__global const float *p, size_t beyond, int count) {
#ifdef LOW
    Two v = {load(p, count), load(p + beyond, count)};
#else
    Two v = {load(p, count), 0.0f};
#endif
    return v;
}

// Result (y, x) is the mean of `factor` × `factor` samples, of which (factor·y, factor·x) is the middle one, or the one
// before the middle. Beyond the edges images are mirrored, dcba|abcd|dcba. This is what Wang's programs compute by
// imfilter(…, 'symmetric') and (1:factor:end). WIDTH is 1. Global: (columns, rows, planes).
__kernel void shrink(__global const float *in, __global float *out, int height, int width, int rows, int columns,
                     int factor) {
    int x = get_global_id(0), y = get_global_id(1), before = (factor - 1) / 2;
    if (x >= columns || y >= rows) return;
    size_t size = (size_t)height * width, smaller = (size_t)rows * columns, planes = get_global_size(2);
    in += get_global_id(2) * size;
    Two sum = {0.0f, 0.0f};
    for (int j = 0; j < factor; j++) {
        __global const float *row = in + (size_t)reflected(factor * y - before + j, height) * width;
        for (int i = 0; i < factor; i++)
            sum = sum_of(sum, load_two(row + reflected(factor * x - before + i, width), planes * size, 1));
    }
    out += get_global_id(2) * smaller + (size_t)y * columns + x;
    store_divided(sum, factor * factor, out, planes * smaller, 1);
}

// The same for a factor of 2: means of 2 × 2 samples, where edges are repeated. A work-item makes WIDTH neighbours.
// Global: (columns / WIDTH, rows, planes).
__kernel void halve(__global const float *in, __global float *out, int height, int width, int rows, int columns) {
    int x = get_global_id(0) * WIDTH, y = get_global_id(1);
    if (x >= columns || y >= rows) return;
    size_t planes = get_global_size(2), beyond = planes * height * width;
    __global const float *upper = in + ((size_t)get_global_id(2) * height + 2 * y) * width + 2 * x;
    __global const float *lower = 2 * y + 1 < height ? upper + width : upper;
    int first = width - 2 * x, second = first - WIDTH;  // samples that exist
    int next = WIDTH == 1 && second < 1 ? 0 : WIDTH;
    Two left = sum_of(load_two(upper, beyond, first), load_two(lower, beyond, first));
    Two right = sum_of(load_two(upper + next, beyond, second), load_two(lower + next, beyond, second));
    Two sum = across(left, right);
    out += ((size_t)get_global_id(2) * rows + y) * columns + x;
    store_divided(sum, 4.0f, out, planes * rows * columns, columns - x);
}

// out = 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601), of planes of `size` values. WIDTH is 1.
__kernel void luma(__global const float *in, __global float *out, int size) {
    int i = get_global_id(0);
    if (i >= size) return;
    Two sum = {0.0f, 0.0f};
    for (int c = 0; c < 3; c++) {
        float weight = c == 0 ? 0.299f : c == 1 ? 0.587f : 0.114f, v = in[(size_t)c * size + i];
        Two product = {weight * v, fma(weight, v, -(weight * v))};
        sum = sum_of(sum, product);
    }
    store_divided(sum, 1.0f, out + i, size, 1);
}
