// The first pass's input, and that of each later pass: take() gives element i of a sequence, whatever the input is.
// After fft.cl.

#ifdef LOAD_IMAGE
// Pixels 2k and 2k + 1 of a row of an image and of its surroundings. Along each axis the elements begin with the pixel that
// is `edge.z` or `edge.w` from the image's first one; count.z rows and more.w columns later, those before it follow.
static inline real2 around(__global const real *in, int i, int k, Place w, Shape s) {
    int y = i * s.count.y + w.m;
    y = border_index((y < s.count.z ? y : y - HIGH) + s.edge.z, ROWS);
    int x0 = border_column((2 * k < s.more.w ? 2 * k : 2 * k - WIDE) + s.edge.w, COLUMNS);
    int x1 = border_column((2 * k + 1 < s.more.w ? 2 * k + 1 : 2 * k + 1 - WIDE) + s.edge.w, COLUMNS);
    __global const real *row = in + (size_t)w.o * s.in.x + (size_t)max(y, 0) * s.in.y;
    real2 a = (real2)(row[max(x0, 0)], row[max(x1, 0)]);  // read in any case: a branch would wait for it
#ifdef BORDER_CONSTANT
    if (x0 < 0 || y < 0) a.x = (real)CVAL;
    if (x1 < 0 || y < 0) a.y = (real)CVAL;
#endif
    return a;
}
#endif

// Element i (of the whole transform: n) of sequence k, which lies at `at`.
static inline real2 element(__global const SAMPLE *in, size_t at, int i, int n, int k, Place w, Shape s) {
    real2 a = 0;
#if defined(LOAD_IMAGE)
    a = around(in, i, k, w, s);
#elif defined(LOAD_SAMPLES)  // a pair is a complex value; without pairs (more.w is 0) each is one
    if (EXISTS(n)) {
        a.x = VALUE(in + at);
        if (SECOND(n, k)) a.y = VALUE(in + at + PAIR_STEP);
    }
#elif defined(LOAD_HERMITIAN)
    bool mirrored = n > LENGTH / 2;
    if (mirrored) at += ((long)LENGTH - 2 * (long)n) * (s.in.w / GAP);
    if (n < LENGTH && EXISTS(mirrored ? LENGTH - n : n)) {  // beyond are Bluestein's zeros
        a = value((__global const in_stored *)in + at);
        if (n == 0 || 2 * n == LENGTH) a.y = 0;  // real by definition: what is there besides is ignored
        if (mirrored) a.y = -a.y;
    }
#else
    if (EXISTS(n)) a = value((__global const in_stored *)in + at);
#endif
#ifdef SWAP_IN
    a = a.yx;
#endif
    return a;
}

#if LANES > 1
// From the first lane to lane l of some that are `step` apart.
static inline long lane_offset(int l, long step, int rest, int back) {
    return min(l, rest) * step - (l ? back : 0);
}

// Complex numbers of all lanes; where not all are there, which is rare, short for compilers.
static inline cplx gathered(__global const in_stored *first, long step, int rest, int back) {
    real t[REALS], u[REALS];
    if (rest < LANES - 1 || back) {
        ROLLED
        for (int l = 0; l < LANES; l++) {
            real2 a = value(first + lane_offset(l, step, rest, back));
            t[l] = a.x;
            t[LANES + l] = a.y;
        }
        return GLUE(vload, REALS)(0, t);
    }
    for (int l = 0; l < LANES; l++) {
        real2 a = value(first + l * step);
        u[l] = a.x;
        u[LANES + l] = a.y;
    }
    return GLUE(vload, REALS)(0, u);
}

static inline void scatter(__global out_stored *first, long step, int rest, int back, cplx v) {
    real t[REALS], u[REALS];
    if (rest < LANES - 1 || back) {
        GLUE(vstore, REALS)(v, 0, t);
        ROLLED
        for (int l = 0; l < LANES; l++) write(first + lane_offset(l, step, rest, back), (real2)(t[l], t[LANES + l]));
        return;
    }
    GLUE(vstore, REALS)(v, 0, u);
    for (int l = 0; l < LANES; l++) write(first + l * step, (real2)(u[l], u[LANES + l]));
}
#endif

// Element i of all lanes.
static inline cplx take(__global const SAMPLE *in, __global const real2 *factors, Place w, uint i, Shape s) {
#if defined(SPLIT) && SPLIT == 1
    int n = i * GAP + other(w);
#else
    int n = i;
#endif
    size_t at = w.in + (size_t)i * IN_STEP;
    cplx v = 0;
#if LANES == 1
    if (w.there) v = element(in, at, i, n, w.k, w, s);
#elif defined(LOAD_SAMPLES) || defined(LOAD_HERMITIAN) || defined(LOAD_IMAGE)
    real t[REALS];
#ifdef PLANES
    if (w.rest == LANES - 1 && EXISTS(n) && SECOND(n, w.k + w.rest)) {
        __global const SAMPLE *first = in + at;
        real u[REALS];
        for (int l = 0; l < LANES; l++) {
            u[l] = VALUE(first + l * LANE_STEP(in));
            u[LANES + l] = VALUE(first + l * LANE_STEP(in) + PAIR_STEP);
        }
        v = GLUE(vload, REALS)(0, u);
    } else {
        ROLLED
#else
    {
#endif
        for (int l = 0; l < LANES; l++) {
            size_t there = at + (size_t)lane_offset(l, (long)w.lane * s.in.z, w.rest, w.in_back);
            real2 a = element(in, there, i, n, beside(w, l), w, s);
            t[l] = a.x;
            t[LANES + l] = a.y;
        }
        v = GLUE(vload, REALS)(0, t);
    }
#else
    if (EXISTS(n)) {
#ifdef LANES_IN_ORDER
        if (w.rest == LANES - 1) {
#ifdef HALF_IN
            v = GLUE(vload_half, REALS)(0, (__global const half *)in + 2 * at);
#else
            v = GLUE(vload, REALS)(0, (__global const real *)in + 2 * at);
#endif
            v = (cplx)(v.even, v.odd);
        } else
#endif
            v = gathered((__global const in_stored *)in + at, (long)w.lane * s.in.z, w.rest, w.in_back);
#ifdef SWAP_IN
        v = swapped(v);
#endif
    }
#endif
#ifdef FACTOR_IN
    v = times(v, FACTOR_BY < FACTORS ? factors[FACTOR_BY] : (real2)0);
#endif
    return v;
}

#ifdef PITCH
// The transfer function's value in column `column`.
static inline cplx transfer(__global const real2 *h, Place w, int column, Shape s) {
    int row = w.k + w.q * APART, around = row == JOINED * APART ? row : 0;
    h += ((size_t)w.o * s.edge.x + row - around) * PITCH + column;
#if LANES == 1
    return w.there ? *h : (real2)0;
#else
    return gathered((__global const in_stored *)h, w.lane * PITCH, w.rest, -around * PITCH);
#endif
}
#endif
