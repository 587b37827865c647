// The rows' weights of a band's bases in local memory: decimate.cl and interpolate.cl read them again and again, the same
// for all work-items. Of each base MOST rows, of which those that it has not weigh nothing.

#define WEIGHTS (MOST * TAPS_Y)  // of a base

static inline void copy_weights(__local float2 *to, __global const float *from, int first, int bases) {
    for (int k = get_local_id(0); k < bases * WEIGHTS; k += ITEMS) ((__local float *)to)[k] = from[first * WEIGHTS + k];
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Of the q-th row of a base, in as few loads as can be.
static inline void weights_of(float *w, __local const float2 *weights, int base, int q) {
    __local const float *row = (__local const float *)weights + (base * MOST + q) * TAPS_Y;
    UNROLLED
#if TAPS_Y % 2
    for (int k = 0; k < TAPS_Y; k++) w[k] = row[k];
#else
    for (int k = 0; k < TAPS_Y / 2; k++) {
        float2 two = ((__local const float2 *)row)[k];
        w[2 * k] = two.x, w[2 * k + 1] = two.y;
    }
#endif
}
