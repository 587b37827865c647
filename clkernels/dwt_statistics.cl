// What is measured of a band of coefficients, planes (planes, size). Group g of dimension 0 takes the elements from
// g · stretch on, side by side; dimension 1: planes. Groups of any size.
//
// -D BAND=float|int    a coefficient   -D WHOLE where that is int   -D ALONE for groups of a single work-item

#define BINS 2048  // of 11 bits

// Histograms of eleven or fewer bits of the magnitudes, for selection by radix: a float without its sign is ordered as the
// integer of its bits is. Of magnitudes whose bits above `shift` + `bits` are the row's prefix, those from `shift` on are
// counted; nexts receives the least magnitude beyond those. A plane's row is `row` + plane. Integers alone are added up,
// so no order matters.
#ifdef WHOLE
#define MAGNITUDE(v) abs(v)
#else
#define MAGNITUDE(v) (as_uint(v) & 0x7fffffff)
#endif
#ifndef ALONE
#define COUNT(bin) atomic_inc(&(bin))
#else
#define COUNT(bin) (bin)++
#endif

__kernel void magnitudes(__global const BAND *in, __global const uint *prefixes, __global uint *histograms,
                         __global uint *nexts, int row, int size, int stretch, int shift, int bits) {
    __local uint bins[BINS], least;
    const int item = get_local_id(0), items = get_local_size(0);
    const size_t plane = get_group_id(1);
    const uint first = (uint)get_group_id(0) * stretch, last = min(first + stretch, (uint)size);
    const uint prefix = prefixes[row + plane];
    in += plane * size;
    for (int b = item; b < BINS; b += items) bins[b] = 0;
    if (item == 0) least = UINT_MAX;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint next = UINT_MAX;
    for (uint i = first + item; i < last; i += items) {
        const uint magnitude = MAGNITUDE(in[i]), head = magnitude >> (shift + bits);
        if (head == prefix) {
            COUNT(bins[(magnitude >> shift) & ((1 << bits) - 1)]);
        } else if (head > prefix) {
            next = min(next, magnitude);
        }
    }
    atomic_min(&least, next);
    barrier(CLK_LOCAL_MEM_FENCE);
    histograms += (row + plane) * BINS;
    for (int b = item; b < BINS; b += items)
        if (bins[b]) atomic_add(&histograms[b], bins[b]);
    if (item == 0) atomic_min(&nexts[row + plane], least);
}

// Sums of squares as pairs of floats, by TwoProduct and TwoSum (T. Ogita, S. Rump, S. Oishi, "Accurate sum and dot
// product", SIAM J. Sci. Comput. 26, 2005): as good as in double, so that the noise's variance can be taken off.
// sums[plane][group]; tree: a pair for each work-item.
#pragma OPENCL FP_CONTRACT OFF  // an fma in TwoSum would destroy the error it is to find

static inline float2 add(float2 sum, float2 x) {
    const float s = sum.x + x.x, t = s - sum.x;
    return (float2)(s, sum.y + x.y + ((sum.x - (s - t)) + (x.x - t)));
}

__kernel void squares(__global const BAND *in, __global float2 *sums, int size, int stretch, __local float2 *tree) {
    const int item = get_local_id(0), items = get_local_size(0);
    const size_t plane = get_group_id(1);
    const uint first = (uint)get_group_id(0) * stretch, last = min(first + stretch, (uint)size);
    in += plane * size;
    float2 sum = 0.0f;
    for (uint i = first + item; i < last; i += items) {
        const float v = (float)in[i], square = v * v;
        sum = add(sum, (float2)(square, fma(v, v, -square)));
    }
    tree[item] = sum;
    for (int n = items; n > 1; n = (n + 1) / 2) {
        const int rest = (n + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item + rest < n) tree[item] = add(tree[item], tree[item + rest]);
    }
    if (item == 0) sums[plane * get_num_groups(0) + get_group_id(0)] = tree[0];
}
