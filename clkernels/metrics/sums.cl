// Sums that are compensated (T. Ogita, S. Rump, S. Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26,
// 2005: TwoSum and Sum2) and taken in a fixed order: they are as good as sums in double, on devices without it, and the
// same in every run. The file stands before those of the metrics.

#pragma OPENCL FP_CONTRACT OFF  // an fma in TwoSum would destroy the error it is to find

// Gives (s, the sum of all rounding errors): the two stay apart so that an infinite s remains infinite.
static inline float2 add(float2 sum, float2 x) {
    float s = sum.x + x.x, t = s - sum.x;
    float e = (sum.x - (s - t)) + (x.x - t);
    return (float2)(s, sum.y + x.y + e);
}

// |a − b|. NaN equals NaN, and an infinity itself, so that a picture equals its copy; NaN against a number is an
// infinite error.
static inline float error_of(float a, float b) {
    if (a == b || (isnan(a) && isnan(b))) return 0.0f;
    float d = fabs(a - b);
    return isnan(d) ? INFINITY : d;
}

// Folds the group's values into those of item 0. Called by the whole group, of a power of two in size.
static inline void fold_sums(__local float2 *sums) {
    int item = get_local_id(0);
    for (int half_ = get_local_size(0) / 2; half_ > 0; half_ /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_) sums[item] = add(sums[item], sums[item + half_]);
    }
}
