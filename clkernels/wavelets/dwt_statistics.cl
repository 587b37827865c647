// What is measured of a band of coefficients, planes (planes, size). Group g of dimension 0 takes the elements from
// g · stretch on, its work-items neighbours by neighbours; dimension 1: planes. Groups of any size. After lanes.cl.
//
// -D ALONE for groups of a single work-item

#define BINS 2048  // of 11 bits

#ifdef ALONE
#define COUNT(bin) (bin)++
#else
#define COUNT(bin) atomic_inc(&(bin))
#endif

// Histograms of eleven or fewer bits of the magnitudes, for selection by radix: a float without its sign is ordered as the
// integer of its bits is. Of magnitudes whose bits above `shift` + `bits` are the row's prefix, those from `shift` on are
// counted; nexts receives the least magnitude beyond those. A plane's row is `row` + plane. Integers alone are added up,
// so no order matters.
__kernel void magnitudes(__global const float *in, __global const uint *prefixes, __global uint *histograms,
                         __global uint *nexts, int row, int size, int stretch, int shift, int bits) {
    __local uint bins[BINS], least;
    const int item = get_local_id(0), items = get_local_size(0);
    const size_t plane = get_group_id(1);
    const uint first = (uint)get_group_id(0) * stretch, last = min(first + stretch, (uint)size);
    const int prefix = prefixes[row + plane];
    in += plane * size;
    for (int b = item; b < BINS; b += items) bins[b] = 0;
    if (item == 0) least = UINT_MAX;
    barrier(CLK_LOCAL_MEM_FENCE);
    UINT next = UINT_MAX;
    for (uint i = first + item * WIDTH; i < last; i += items * WIDTH) {
        const int count = (int)min(last - i, (uint)WIDTH);
        const INT inside = (INT)LANE_INDEX < (INT)count;
        const INT magnitude = AS_INT(load(in + i, count)) & 0x7fffffff, head = magnitude >> (shift + bits);
        const INT here = inside & (head == (INT)prefix), beyond = inside & (head > (INT)prefix);
        next = min(next, select((UINT)UINT_MAX, AS_UINT(magnitude), beyond));
        if (any_lane(here))
            for (int k = 0; k < WIDTH; k++)
                if (int_lane(here, k)) COUNT(bins[(int_lane(magnitude, k) >> shift) & ((1 << bits) - 1)]);
    }
    for (int k = 0; k < WIDTH; k++) atomic_min(&least, (uint)int_lane(AS_INT(next), k));
    barrier(CLK_LOCAL_MEM_FENCE);
    histograms += (row + plane) * BINS;
    for (int b = item; b < BINS; b += items)
        if (bins[b]) atomic_add(&histograms[b], bins[b]);
    if (item == 0) atomic_min(&nexts[row + plane], least);
}

// Sums of squares as pairs of floats, by TwoProduct and TwoSum (T. Ogita, S. Rump, S. Oishi, "Accurate sum and dot
// product", SIAM J. Sci. Comput. 26, 2005): so good that the noise's variance can be taken off.
// sums[plane][group]; tree: a pair for each work-item.
#pragma OPENCL FP_CONTRACT OFF  // an fma in TwoSum would destroy the error it is to find

static inline float2 add(float2 sum, float2 x) {
    const float s = sum.x + x.x, t = s - sum.x;
    return (float2)(s, sum.y + x.y + ((sum.x - (s - t)) + (x.x - t)));
}

__kernel void squares(__global const float *in, __global float2 *sums, int size, int stretch, __local float2 *tree) {
    const int item = get_local_id(0), items = get_local_size(0);
    const size_t plane = get_group_id(1);
    const uint first = (uint)get_group_id(0) * stretch, last = min(first + stretch, (uint)size);
    in += plane * size;
    FLOAT sum = 0.0f, lost = 0.0f;  // `add`, WIDTH at a time
    for (uint i = first + item * WIDTH; i < last; i += items * WIDTH) {
        const int count = (int)min(last - i, (uint)WIDTH);
        const FLOAT v = select((FLOAT)0.0f, load(in + i, count), (INT)LANE_INDEX < (INT)count), x = v * v;
        const FLOAT s = sum + x, t = s - sum;
        lost += ((sum - (s - t)) + (x - t)) + fma(v, v, -x);
        sum = s;
    }
    float2 total = 0.0f;
    for (int k = 0; k < WIDTH; k++) total = add(total, (float2)(lane(sum, k), lane(lost, k)));
    tree[item] = total;
    for (int n = items; n > 1; n = (n + 1) / 2) {
        const int rest = (n + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item + rest < n) tree[item] = add(tree[item], tree[item + rest]);
    }
    if (item == 0) sums[plane * get_num_groups(0) + get_group_id(0)] = tree[0];
}
