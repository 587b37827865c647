// The weights of a band's rows in local memory, since all work-items of decimate.cl and interpolate.cl read the same
// ones again and again. Each base has room for MOST rows; rows that it lacks have weight 0.

#define WEIGHTS (MOST * TAPS_Y)  // weights of a base

static inline void copy_weights(__local float2 *to, __global const float *from, int first, int bases) {
    for (int k = get_local_id(0); k < bases * WEIGHTS; k += ITEMS) ((__local float *)to)[k] = from[first * WEIGHTS + k];
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Reads the weights of a base's q-th row in as few loads as possible.
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
