// How many pixels of two pictures differ by more than noise explains, in one reading. After lanes.cl.
//
//   A pixel fails if a channel of it has |a − b| > limit · √variance.
//
// The variance is each value's own. An error that is not finite always fails; NaN equals NaN, and an infinity itself.
//
// -D CHANNELS=n   planes of the three pictures
//
// A group of any size takes `span` neighbouring pixels, a multiple of WIDTH. partial: for each group the number of
// pixels that fail.
__kernel void z_test(__global const float *a, __global const float *b, __global const float *variance,
                     __global uint *partial, uint size, uint span, float limit) {
    __local uint total;
    int item = get_local_id(0), items = get_local_size(0);
    uint first = get_group_id(0) * span, end = first + min(span, size - first);
    if (item == 0) total = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint failing = 0;
    for (uint i = first + item * WIDTH; i < end; i += items * WIDTH) {
        int count = (int)min(end - i, (uint)WIDTH);
        INT fails = 0;
        for (int c = 0; c < CHANNELS; c++) {
            size_t at = (size_t)c * size + i;
            FLOAT x = load(a + at, count), y = load(b + at, count), d = fabs(x - y);
            FLOAT bound = limit * sqrt(load(variance + at, count));
            INT beyond = (d > bound) | (d > FLT_MAX) | isnan(d) | isnan(bound);
            fails |= beyond & (x != y) & ((isnan(x) & isnan(y)) == 0);
        }
        failing += lanes_sum(one_if(fails & (LANE_INDEX < (INT)count)));
    }
    atomic_add(&total, failing);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) partial[get_group_id(0)] = total;
}
