// The output of a pass: give() stores element i of a sequence, whatever the output is. After fft.cl.

#ifdef STORE_PIXELS
// A kernel and give() have two arguments more: the table of encode.cl, and its counts of values that do not fit.
#define ENCODING , __global const uint *codes, __global uint *lost
#define LOSSES , __global const uint *codes, INT *losses
#define COUNTED , codes, losses
#define COUNTERS INT losses[2] = {0, 0};
#define COUNT                                            \
    for (int k = 0; k < 2; k++) {                        \
        int sum = lanes_sum(losses[k]);                  \
        if (sum) atomic_add(&lost[k], (uint)sum);        \
    }

// Real parts of all lanes, and imaginary parts where those are the second of a pair, to pixels.
static inline void give_pixels(__global PIXEL *out, cplx v, Place w, Shape s LOSSES) {
    real t[REALS];
    GLUE(vstore, REALS)(v, 0, t);
    for (int part = 0; part < 2; part++)
        for (int l = 0; l < LANES; l += WIDTH) {
            __global PIXEL *to = out + l * LANE_STEP(out) + part * PAIR_STEP;
            int there = min(w.rest + 1, part ? s.more.w / 2 - w.k : LANES) - l;  // of WIDTH lanes from l on
#if WIDTH == 1
            if (there > 0) *to = encode((float)t[part * LANES + l], 1, codes, 1, losses);
#else
            FLOAT a = TO_FLOAT(GLUE(vload, WIDTH)(0, t + part * LANES));
            PIXEL u[WIDTH];
            vstore8(encode(a, 1, codes, LANE_INDEX < (INT)there, losses), 0, u);
            if (there >= WIDTH) {
                UNROLLED
                for (int j = 0; j < WIDTH; j++) to[j * LANE_STEP(out)] = u[j];
            } else {
                for (int j = 0; j < there; j++) to[j * LANE_STEP(out)] = u[j];
            }
#endif
        }
}
#else
#define ENCODING
#define LOSSES
#define COUNTED
#define COUNTERS
#define COUNT
#endif

// Element n of sequence k to `at`, if it is wanted.
static inline void put(__global real *out, size_t at, real2 a, int n, int k, Shape s) {
    if (!WANTED(n)) return;
#ifdef SWAP_OUT
    a = a.yx;
#endif
#ifdef STORE_SAMPLES
    out[at] = a.x;
    if (SECOND(n, k)) out[at + PAIR_STEP] = a.y;
#else
    write((__global out_stored *)out + at, a);
#endif
}

// Element i of all lanes, times `scale`; of the first half of a split transform also times exp(−2πi·n2·k1 / N).
static inline void give(__global real *out, __global const real2 *factors, __global const real2 *roots, Place w, uint i,
                        cplx v, Shape s LOSSES) {
    int n = i;
#if defined(SPLIT) && SPLIT == 1
#ifdef SWAPPED
    v = swapped(v);
#endif
#ifdef SPLIT_BESIDE
    real r[REALS];
    for (int l = 0; l < LANES; l++) {
        real2 a = WANTED(n) ? roots[beside(w, l) * i] : (real2)0;
        r[l] = a.x;
        r[LANES + l] = a.y;
    }
    v = product(v, GLUE(vload, REALS)(0, r));
#else
    v = times(v, WANTED(n) ? roots[w.m * i] : (real2)0);
#endif
#ifdef SWAPPED
    v = swapped(v);
#endif
#elif defined(SPLIT)
    n = i * GAP + other(w);
#endif
#ifdef FACTOR_OUT
    real2 f = FACTOR_BY < FACTORS ? factors[FACTOR_BY] : (real2)0;
    v = times(v, (real2)(f.x, FACTOR_OUT * f.y));
#endif
#ifndef UNSCALED
    v *= s.scale;
#endif
    size_t at = w.out + (size_t)i * OUT_STEP;
#ifdef STORE_PIXELS
#ifdef SWAP_OUT
    v = swapped(v);
#endif
    if (WANTED(n) && w.stored) give_pixels((__global PIXEL *)out + at, v, w, s COUNTED);
#elif LANES == 1
    if (w.stored) put(out, at, v, n, w.k, s);
#elif defined(STORE_SAMPLES)
    real t[REALS];
    GLUE(vstore, REALS)(v, 0, t);
    for (int l = 0; l < LANES; l++) {
        size_t there = at + (size_t)lane_offset(l, (long)w.lane * s.out.z, w.rest, w.out_back);
        put(out, there, (real2)(t[l], t[LANES + l]), n, beside(w, l), s);
    }
#else
    if (!WANTED(n)) return;
#ifdef SWAP_OUT
    v = swapped(v);
#endif
#ifdef LANES_OUT_ORDER
    if (w.rest == LANES - 1) {
        cplx u;
        u.even = v.lo;
        u.odd = v.hi;
#ifdef HALF_OUT
        GLUE(vstore_half, REALS)(u, 0, (__global half *)out + 2 * at);
#else
        GLUE(vstore, REALS)(u, 0, out + 2 * at);
#endif
    } else
#endif
        scatter((__global out_stored *)out + at, (long)w.lane * s.out.z, w.rest, w.out_back, v);
#endif
}
