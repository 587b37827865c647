// One stage of a transform that goes through global memory: a work-item computes one butterfly of RADIX values.
//
// This is Stockham's self-sorting form. Nothing is in digit-reversed order, but the result cannot overwrite the input.
// After fft.cl and the butterflies. Global: butterflies · groups, 1-D; any group size.
//
// butterflies, stride    N / RADIX, and the product of the radices of the stages before
// groups                 the number of groups of LANES sequences
// -D RADIX=n -D UNROLLED_RADIX=n    the loops over its values are unrolled as often
// -D ALONG               work-items are numbered butterflies first, not sequences first: elements are neighbours in memory
// -D COMPUTED            twiddles are computed, not read from a table

#define EACH_VALUE(first) \
    __attribute__((opencl_unroll_hint(UNROLLED_RADIX))) for (int k = first; k < RADIX; k++)

__kernel void fft_global(ARGUMENTS, int butterflies, int stride, int groups) {
    const int id = get_global_id(0);
#ifdef ALONG
    const int t = id % butterflies, group = id / butterflies;
#else
    const int t = id / groups, group = id % groups;
#endif
    if (t >= butterflies || group >= groups) return;
    const Shape s = SHAPE;
    COUNTERS
    const Place w = place(group, 0, 1, s);
    cplx x[RADIX];
    const int q = t % stride, p = t / stride * (stride * RADIX) + q;
    EACH_VALUE(0) x[k] = take(in, factors, w, t + k * butterflies, s);
#ifdef COMPUTED
    EACH_VALUE(1) x[k] = times(x[k], root(k * q, stride * RADIX));
#else
    EACH_VALUE(1) x[k] = times(x[k], tables[k * stride - 1 + q]);
#endif
    GLUE(dft, RADIX)(x);
    EACH_VALUE(0) give(out, factors, roots, w, p + k * stride, x[k], s COUNTED);
    COUNT
}
