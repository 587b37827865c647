// The worst value of a group and its place, which is the largest value and of equal ones the first; and counts.

// Says whether a value at a place goes before another as the worst.
static inline int goes_before(float a, uint at_a, float b, uint at_b) { return a > b || (a == b && at_a < at_b); }

// Folds the group's values into those of item 0. Called by the whole group, of a power of two in size.
static inline void fold_worst(__local float *most, __local uint *places) {
    int item = get_local_id(0);
    for (int half_ = get_local_size(0) / 2; half_ > 0; half_ /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_ && goes_before(most[item + half_], places[item + half_], most[item], places[item])) {
            most[item] = most[item + half_];
            places[item] = places[item + half_];
        }
    }
}

// Folds the group's counts into those of item 0. Called by the whole group, of a power of two in size.
static inline void fold_counts(__local uint *counts) {
    int item = get_local_id(0);
    for (int half_ = get_local_size(0) / 2; half_ > 0; half_ /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_) counts[item] += counts[item + half_];
    }
}
