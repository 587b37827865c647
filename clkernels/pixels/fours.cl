// Four neighbouring values of a row of planar float.
//
// -D ALIGNED   promises that rows begin at multiples of four values

#define UNROLLED __attribute__((opencl_unroll_hint))
#define ROLLED __attribute__((opencl_unroll_hint(1)))  // keeps a long loop's instructions within their cache

// Stores the first `count` of the four values.
static inline void store_four(float4 v, __global float *p, int count) {
#ifdef ALIGNED
    if (count > 0) *(__global float4 *)p = v;
#else
    if (count >= 4) {
        vstore4(v, 0, p);
    } else {
        if (count > 0) p[0] = v.x;
        if (count > 1) p[1] = v.y;
        if (count > 2) p[2] = v.z;
    }
#endif
}
