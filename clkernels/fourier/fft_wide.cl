// A transform of r1·r2·…·rm points, or half of a longer one, by a CPU: one program for all lengths.
//
// A work-item has whole sequences in local memory, as lanes of vectors. They are read to digit-reversed places; stage i
// joins ri transforms of s = r1·…·r(i−1) points that lie s apart, and the result is in order (decimation in time). The same
// stages backwards, with twiddles behind the butterfly (decimation in frequency), take it back to the samples' places, so
// that a convolution (an image's, or Bluestein's) never reorders.
// Sources: Cooley & Tukey 1965; Bluestein 1970; Van Loan, Computational Frameworks for the FFT, 1992.
//
// After fft.cl, fft_prime.cl and the butterflies. Global: groups, 1-D; local: 1.
//
// points, stage_count  of a sequence; the number of stages, those on the way back included
// stages[i]            radix, stride s, where in `tables` the roots of unity are that a radix in a loop needs, and 1 on the
//                      way back
// places[n]            the place of sample n
// memory               LOADED · points values
//
// LOADED=2             rows k and −k are transformed together, as they are each other's mirror images; else 1
// UNPACK, PACK, MULTIPLY    complex values are pairs of neighbours (see fft.cl): of the input; the output; both, and the
//                      spectrum is multiplied by a transfer function.  WHOLE=1: all of the spectrum is stored, not half
// FILTER               this is Bluestein's convolution
// EACH_RADIX           STAGE(r) for each radix r whose butterfly is straight-line code
// LARGEST_PRIME=n      the largest of the others, which are odd primes
// COMPUTED             twiddles are computed, not read from a table

#if defined(FILTER) || defined(MULTIPLY)
#define BACK stage.w
#define PLACE(n) places[n]  // of element n of the result
#else
#define BACK 0
#define PLACE(n) (n)
#endif

#ifdef COMPUTED
#define ROOT root(k * q, stride * radix)
#else
#define ROOT tables[q + k * stride - 1]
#endif
// Times exp(−2πi·k·q / (stride·radix)).
#define TWIDDLE EACH_VALUE(1) x[k] = times(x[k], ROOT);

#define BUTTERFLIES(dft)                                                          \
    for (int first = 0; first < LOADED * points; first += radix * stride)         \
        for (int q = 0; q < stride; q++) {                                        \
            __local cplx *at = memory + first + q;                                \
            EACH_VALUE(0) x[k] = at[k * stride];                                  \
            if (!BACK) TWIDDLE                                                    \
            dft;                                                                  \
            if (BACK) TWIDDLE                                                     \
            EACH_VALUE(0) at[k * stride] = x[k];                                  \
        }

#define STAGE(r)                                                                  \
    case r: {                                                                     \
        const int radix = r;                                                      \
        cplx x[r];                                                                \
        BUTTERFLIES(dft##r(x))                                                    \
        break;                                                                    \
    }

#ifdef POCL_DEVICE_ADDRESS_BITS  // PoCL builds twice what is inline; Intel's compiler builds twice what is not
__attribute__((noinline))
#endif
static void transform_stage(__local cplx *memory, __global const real2 *tables, int points, int4 stage) {
    const int radix = stage.x, stride = stage.y;
    switch (radix) {
#define EACH_VALUE(first) UNROLLED for (int k = first; k < radix; k++)
        EACH_RADIX
#undef EACH_VALUE
#define EACH_VALUE(first) ROLLED for (int k = first; k < radix; k++)
        default: {
            cplx x[LARGEST_PRIME], y[LARGEST_PRIME];
            BUTTERFLIES(dft_of_prime(x, y, radix, (__global const real *)(tables + stage.z)))
        }
    }
}

#define EACH_POINT for (int slot = 0; slot < LOADED; slot++) for (int n = 0; n < points; n++)
// Each frequency q of which −q is in the opposite row, or in the same one.
#define EACH_PAIR for (int q = 0; q < (LOADED == 2 ? points : points / 2 + 1); q++)
#define MINUS(q) ((q) ? points - (q) : 0)

// Makes E + i·O of a row and of its mirror image from p = X[k, q] and m = X[k, q + M], all with real and imaginary parts
// swapped. w is w_N^q.
static inline void pack(__local cplx *one, __local cplx *other, cplx p, cplx m, real2 w) {
    const cplx e = p + m, o = times(turned(p - m), w);
    *one = e + o;
    *other = reflected(e - o);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void fft_wide(ARGUMENTS, int points, int stage_count, __global const int4 *stages,
              __global const int *places, __local cplx *memory) {
    const Shape s = SHAPE;
    COUNTERS
    const Place all = place(get_group_id(0), 0, 1, s);
    Place v[LOADED];
    for (int slot = 0; slot < LOADED; slot++) carried(v + slot, all, 0, slot, s);
    __local cplx *opposite = memory + (LOADED - 1) * points;
    __global const real2 *behind = tables + points;  // the twiddles: w_N^q, or Bluestein's filter

#ifdef PACK
    // X[k, q] and X[−k, M − q]. At q = 0 and M the two rows' values are of the same column: those that must be conjugate
    // are made so, as if a transform of the columns had given real numbers.
    EACH_PAIR {
        cplx p = take(in, factors, v[0], q, s), m = reflected(take(in, factors, v[LOADED - 1], points - q, s));
        if (q == 0) {
            p = (p - conjugate(take(in, factors, v[LOADED - 1], 0, s))) * (real)0.5f;
            m = (m + take(in, factors, v[0], points, s)) * (real)0.5f;
        }
        pack(memory + places[q], opposite + places[MINUS(q)], p, m, behind[q]);
    }
#else
    EACH_POINT memory[slot * points + places[n]] = take(in, factors, v[slot], n, s);
#endif

    for (int i = 0; i < stage_count; i++) {
#if defined(FILTER)
        if (i == stage_count / 2) EACH_POINT memory[n] = swapped(times(memory[n], behind[n]));
#elif defined(MULTIPLY)
        if (i == stage_count / 2) EACH_PAIR {
            const cplx a = memory[q], b = conjugate(opposite[MINUS(q)]), e = a + b, o = times(turned(a - b), behind[q]);
            const cplx h = transfer(factors, v[0], q, s), g = conjugate(transfer(factors, v[1], points - q, s));
            pack(memory + q, opposite + MINUS(q), swapped(product(e + o, h)), swapped(product(e - o, g)), behind[q]);
        }
#endif
        transform_stage(memory, tables, points, stages[i]);
    }

#ifdef UNPACK
    // Stores X[k, q] and conj X[k, q + M] = X[−k, M − q]; at q = 0 both belong to the half spectrum of row k and to that
    // of −k.
    EACH_PAIR {
        const cplx a = memory[q], b = conjugate(opposite[MINUS(q)]), e = a + b, o = times(turned(a - b), behind[q]);
        give(out, factors, roots, v[0], q, e + o, s COUNTED);
        give(out, factors, roots, v[LOADED - 1], points - q, conjugate(e - o), s COUNTED);
        if (WHOLE || q == 0) {
            give(out, factors, roots, v[0], q + points, e - o, s COUNTED);
            if (LOADED == 2) give(out, factors, roots, v[1], q ? 2 * points - q : 0, conjugate(e + o), s COUNTED);
        }
    }
#else
    EACH_POINT give(out, factors, roots, v[slot], n, memory[slot * points + PLACE(n)], s COUNTED);
#endif
    COUNT
}
