// Discrete Fourier transforms of many sequences at once:  X[k] = Σ_n x[n] · exp(−2πi·n·k / N).
//
// What is here reads, writes and multiplies; gpuops/fft/generate.py appends the butterflies and the kernel itself,
// which calls load() → stages through local memory → store(). The inverse is the forward transform with real and
// imaginary parts swapped on the way in and out.
//
// Layout: sequence (outer, middle, beside) has element i at  outer·s.x + middle·s.y + beside·s.z + i·s.w  (steps s,
// in elements); complex arrays are interleaved. A work-item carries LANES sequences that are neighbours in `beside`:
// 1 on a GPU; the lanes of a vector register on a CPU.
//
// -D REAL=float|double  -D LANES=n  -D WIDTH=2n   LANES sequences in one complex value
// -D LENGTH=n           of the whole transform, where the input is a half spectrum or the output two of them
// -D SWAP_IN, -D SWAP_OUT     real and imaginary parts;  -D CONJUGATE     of what is stored
// -D LOAD_REAL | LOAD_HERMITIAN     input: real; half a spectrum X[k], k ≤ N/2, with X[N−k] = conj X[k]. Else complex
// -D STORE_REAL | STORE_SPECTRA     output: real; the spectra of two real sequences. Else complex
// -D PAIR               two real sequences are one complex one: the first its real, the second its imaginary part
// -D PACKED             such a pair's transform is stored as it is; -D LOAD_PACKED=n: and loaded by the pass along the
//                       other axis, whose sequence `beside` = k (of n) has at 2j and 2j + 1 the spectra of a pair:
//                       X[k] = (Z[k] + conj Z[n−k]) / 2     Y[k] = (Z[k] − conj Z[n−k]) / 2i
// -D MIRRORED=n         sequence k (of n) of the spectrum of real input also gives sequence n − k
// -D JOINED             sequences `partner` apart are one work-item's, and transformed across each other at first: the
//                       last radix of the transform along `beside` (decimation in time)
// -D IN_PAIRS           every such pair exists, its members are neighbours, and the first one's address is even
// -D IN_ALL, -D OUT_ALL       every element exists in the input, is wanted of the output
// -D IN_STEP=n, -D OUT_STEP=n     from element to element, where that is compiled in;  -D UNSCALED: scale is 1
// -D LANES_IN_ORDER, -D LANES_OUT_ORDER    neighbouring sequences are neighbours in memory (vector access)
// -D SPLIT=1|2          first or second half of a transform of N = N1·N2 points too long for local memory
//                       (four-step: Bailey, "FFTs in external or hierarchical memory", 1990); -D GAP=N2 or N1
// -D SPLIT_LANES        the other half's index runs along `beside` (rows) rather than `middle` (columns)

#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)

#ifndef GAP
#define GAP 1
#endif
#ifdef PAIR
#define REALS 2
#else
#define REALS 1
#endif
#ifdef IN_ALL
#define EXISTS(n) 1
#else
#define EXISTS(n) ((n) < count.z)
#endif
#ifndef IN_STEP
#define IN_STEP step.w
#endif
#ifndef OUT_STEP
#define OUT_STEP step.w
#endif
#ifdef OUT_ALL
#define WANTED(n) 1
#else
#define WANTED(n) ((n) < count.w)
#endif
// From lane to lane the index within the whole transform moves by this, at either end.
#if defined(SPLIT_LANES) && SPLIT == 1
#define LANE_IN 1
#else
#define LANE_IN 0
#endif
#if defined(SPLIT_LANES) && SPLIT == 2
#define LANE_OUT 1
#else
#define LANE_OUT 0
#endif

typedef REAL real;
typedef GLUE(REAL, 2) real2;
typedef GLUE(REAL, WIDTH) cplx;  // LANES complex numbers: real parts in .lo, imaginary parts in .hi

static inline cplx times(cplx a, real2 w) {
    return (cplx)(a.lo * w.x - a.hi * w.y, a.lo * w.y + a.hi * w.x);
}

static inline cplx product(cplx a, cplx b) {
    return (cplx)(a.lo * b.lo - a.hi * b.hi, a.lo * b.hi + a.hi * b.lo);
}

static inline cplx turned(cplx a) {  // −i·a
    return (cplx)(a.hi, -a.lo);
}

static inline cplx swapped(cplx a) {
    return (cplx)(a.hi, a.lo);
}

// exp(−2πi·j/n), 0 ≤ j < n, to the accuracy of sinpi and cospi (4 ulp), the angle reduced to half a turn first.
static inline real2 root(int j, int n) {
    real angle = (real)(2 * j > n ? j - n : j) * (real)2 / (real)n;
    return (real2)(cospi(angle), -sinpi(angle));
}

// Where a work-item's sequences lie.
typedef struct {
    size_t in, out;  // address of the first lane's element 0
    size_t twin, mirror;  // LOAD_PACKED, MIRRORED: of the other sequence
    int here;        // sequences that exist from the first lane on
    int other;       // SPLIT: n2 or k1, the other half's index; JOINED, MIRRORED: k, of the first of those joined
} Place;

// count: sequences beside each other, in the middle; elements that exist in the input, that are wanted of the output
static inline Place place(int group, int column, int columns, int4 count, int4 in_step, int4 out_step) {
    int per = columns * LANES * REALS;
    int groups = (count.x + per - 1) / per;
    int b = (group % groups) * per + column * LANES * REALS, rest = group / groups;
    size_t m = rest % count.y, o = rest / count.y;
    Place w;
    w.in = o * in_step.x + m * in_step.y + (size_t)b * in_step.z;
#ifdef PACKED
    w.out = o * out_step.x + m * out_step.y + (size_t)(b / 2) * out_step.z;
#else
    w.out = o * out_step.x + m * out_step.y + (size_t)b * out_step.z;
#endif
    w.twin = w.mirror = 0;
#ifdef LOAD_PACKED
    w.twin = o * in_step.x + m * in_step.y + (size_t)(b ? LOAD_PACKED - b : 0) * in_step.z;
#endif
#ifdef MIRRORED
    w.mirror = o * out_step.x + m * out_step.y + (size_t)(MIRRORED - b) * out_step.z;
#endif
    w.here = count.x - b;
#if defined(JOINED) || defined(MIRRORED)
    w.other = b;
#elif defined(SPLIT_LANES)
    w.other = b;
#elif defined(SPLIT)
    w.other = m;
#else
    w.other = 0;
#endif
    return w;
}

// The q-th of joined sequences, which lie `partner` apart (in the input and in the output).
static inline Place beside(Place w, int q, int2 partner) {
    Place v;  // filled by field: Mesa's compiler lets changes of a copied struct through to the original
    v.in = w.in + (size_t)q * partner.x;
    v.twin = w.twin + (size_t)q * partner.x;
    v.out = w.out + (size_t)q * partner.y;
    v.mirror = w.mirror - (size_t)q * partner.y;
    v.here = w.here;
    v.other = w.other;
    return v;
}

// -- in -----------------------------------------------------------------------------------------------------------

// Element n of one lane, at `at`; `here` sequences exist from this lane on, in_n elements in each.
static inline real2 element(__global const real *in, size_t at, int n, int4 count, int4 step, int partner, int here) {
    __global const real2 *pairs = (__global const real2 *)in;
    real2 a = 0;
#ifdef LOAD_HERMITIAN
    if (n >= LENGTH) here = 0;  // Bluestein's zeros
    bool mirrored = n > LENGTH / 2;
    if (mirrored) {
        at += ((long)LENGTH - 2 * (long)n) * (step.w / GAP);
        n = LENGTH - n;
    }
    if (EXISTS(n) && here > 0) {
        a = pairs[at];
#ifdef PAIR
        real2 b = here > 1 ? pairs[at + partner] : (real2)0;
#endif
        if (n == 0 || 2 * n == LENGTH) {  // real by definition: what is there besides is ignored
            a.y = 0;
#ifdef PAIR
            b.y = 0;
#endif
        }
        if (mirrored) a.y = -a.y;
#ifdef PAIR
        if (mirrored) b.y = -b.y;
        a = (real2)(a.x - b.y, a.y + b.x);
#endif
    }
#else
    if (EXISTS(n) && here > 0) {
#if defined(LOAD_REAL) && defined(IN_PAIRS)
        a = *(__global const real2 *)(in + at);
#elif defined(LOAD_REAL)
        a.x = in[at];
#ifdef PAIR
        if (here > 1) a.y = in[at + partner];
#endif
#else
        a = pairs[at];
#endif
    }
#endif
#ifdef SWAP_IN
    a = a.yx;
#endif
    return a;
}

// Element i of all lanes.
static inline cplx load(__global const real *in, Place w, int i, int4 count, int4 step, int2 partner) {
#if defined(SPLIT) && SPLIT == 1
    int n = i * GAP + w.other;
#else
    int n = i;
#endif
    size_t at = w.in + (size_t)i * IN_STEP;
#if LANES == 1
    return element(in, at, n, count, step, partner.x, w.here);
#else
#if defined(LANES_IN_ORDER) && !defined(LOAD_HERMITIAN)
    int exist = LANE_IN ? min(w.here, count.z - n) : n < count.z ? w.here : 0;
    if (exist >= LANES) {
#ifdef LOAD_REAL
        cplx v = 0;
        v.lo = GLUE(vload, LANES)(0, in + at);
#else
        cplx v = GLUE(vload, WIDTH)(0, in + 2 * at);
        v = (cplx)(v.even, v.odd);
#endif
#ifdef SWAP_IN
        v = swapped(v);
#endif
        return v;
    }
#endif
    real s[WIDTH];
    for (int l = 0; l < LANES; l++) {
        real2 a = element(in, at + (size_t)(l * REALS) * step.z, n + l * LANE_IN, count, step, partner.x,
                          w.here - l * REALS);
        s[l] = a.x;
        s[LANES + l] = a.y;
    }
    return GLUE(vload, WIDTH)(0, s);
#endif
}

#ifdef LOAD_PACKED
// Elements i and i + 1, i even, twice as large.
static inline void load_pair(__global const real *in, Place w, int i, int4 count, cplx *even, cplx *odd) {
    real2 a = 0, b = 0;
    if (EXISTS(i) && w.here > 0) {
        a = ((__global const real2 *)in)[w.in + (uint)i / 2];
        b = ((__global const real2 *)in)[w.twin + (uint)i / 2];
    }
    *even = (real2)(a.x + b.x, a.y - b.y);
    *odd = EXISTS(i + 1) ? (real2)(a.y + b.y, b.x - a.x) : (real2)0;
}

static inline cplx load_packed(__global const real *in, Place w, int i, int4 count) {
    cplx even, odd;
    load_pair(in, w, i & ~1, count, &even, &odd);
    return i & 1 ? odd : even;
}
#endif

// Whole sequences into local memory, element i at order[i] (null: at i), zeros behind them: rows in memory order.
static inline void fetch(__global const real *in, Place w, __global const int *order, int points, int4 count,
                         int4 step, int2 partner, __local cplx *buf) {
    __local real *s = (__local real *)buf;
    for (int first = 0; first < points; first += 8) {
        int last = min(first + 8, points);
        for (int l = 0; l < LANES; l++) {
            size_t at = w.in + (size_t)(l * REALS) * step.z;
            for (int i = first; i < last; i++) {
                real2 a = element(in, at + (size_t)i * step.w, i, count, step, partner.x, w.here - l * REALS);
                int p = (order ? order[i] : i) * WIDTH + l;
                s[p] = a.x;
                s[p + LANES] = a.y;
            }
        }
    }
}

// -- out ----------------------------------------------------------------------------------------------------------

// Element n of one lane to `at`, if it is wanted.
static inline void put(__global real *out, size_t at, real2 a, int n, int4 count, int4 step, int here) {
    if (!WANTED(n) || here < 1) return;
#ifdef SWAP_OUT
    a = a.yx;
#endif
#ifdef CONJUGATE
    a.y = -a.y;
#endif
#ifdef STORE_REAL
    out[at] = a.x;
#ifdef PAIR
    if (here > 1) out[at + step.z] = a.y;
#endif
#else
    ((__global real2 *)out)[at] = a;
#endif
}

// Element i of all lanes, times `scale`; of the first half of a split transform also times exp(−2πi·n2·k1 / N).
static inline void store(__global real *out, Place w, int i, cplx v, real scale, __global const real2 *roots,
                         int4 count, int4 step) {
    int n = i;
#if defined(SPLIT) && SPLIT == 1
#if LANES > 1 && defined(SPLIT_LANES)
    real s[WIDTH];
    for (int l = 0; l < LANES; l++) {
        real2 a = w.here > l ? roots[(w.other + l) * i] : (real2)0;
        s[l] = a.x;
        s[LANES + l] = a.y;
    }
    v = product(v, GLUE(vload, WIDTH)(0, s));
#else
    v = times(v, w.here > 0 ? roots[w.other * i] : (real2)0);
#endif
#elif defined(SPLIT)
    n = i * GAP + w.other;
#endif
#ifndef UNSCALED
    v *= scale;
#endif
    size_t at = w.out + (size_t)i * OUT_STEP;
#if LANES == 1
    put(out, at, v, n, count, step, w.here);
#else
#if defined(LANES_OUT_ORDER)
    int wanted = LANE_OUT ? min(w.here, count.w - n) : n < count.w ? w.here : 0;
    if (wanted >= LANES) {
#ifdef SWAP_OUT
        v = swapped(v);
#endif
#ifdef STORE_REAL
        GLUE(vstore, LANES)(v.lo, 0, out + at);
#else
        cplx u;
        u.even = v.lo;
        u.odd = v.hi;
        GLUE(vstore, WIDTH)(u, 0, out + 2 * at);
#endif
        return;
    }
#endif
    real t[WIDTH];
    GLUE(vstore, WIDTH)(v, 0, t);
    for (int l = 0; l < LANES; l++)
        put(out, at + (size_t)(l * REALS) * step.z, (real2)(t[l], t[LANES + l]), n + l * LANE_OUT, count, step,
            w.here - l * REALS);
#endif
}

#ifdef MIRRORED
// Element i of sequence k as element LENGTH − i of sequence n − k, unless that is one of those transformed.
static inline void store_mirror(__global real *out, Place w, int i, cplx v, real scale, int4 count, int4 step) {
    int m = i ? LENGTH - i : 0;
    bool other = w.other != 0 && 2 * w.other != LOAD_PACKED && i < LENGTH;  // Bluestein: more are computed
    v *= scale;
    put(out, w.mirror + (size_t)m * OUT_STEP, (cplx)(v.lo, -v.hi), m, count, step, other ? w.here : 0);
}
#endif

// Whole sequences from local memory (element i at i), in memory order: the counterpart of fetch().
static inline void deliver(__global real *out, Place w, real scale, int4 count, int4 step, __local const cplx *buf) {
    __local const real *s = (__local const real *)buf;
    for (int first = 0; first < count.w; first += 8) {
        int last = min(first + 8, count.w);
        for (int l = 0; l < LANES; l++) {
            size_t at = w.out + (size_t)(l * REALS) * step.z;
            for (int i = first; i < last; i++) {
                real2 a = (real2)(s[i * WIDTH + l], s[i * WIDTH + LANES + l]) * scale;
                put(out, at + (size_t)i * step.w, a, i, count, step, w.here - l * REALS);
            }
        }
    }
}

// The spectra of both sequences of a pair, from a = Z[k] and b = Z[N − k] of z = x + i·y:
//   X[k] = (Z[k] + conj Z[N−k]) / 2     Y[k] = (Z[k] − conj Z[N−k]) / 2i
static inline void spectra(cplx a, cplx b, cplx *xy) {
    xy[0] = (cplx)(a.lo + b.lo, a.hi - b.hi) * (real)0.5f;
    xy[1] = (cplx)(a.hi + b.hi, b.lo - a.lo) * (real)0.5f;
}

static inline void store_spectra(__global real *out, Place w, int k, cplx a, cplx b, real scale, int4 step,
                                 int2 partner) {
    cplx xy[2];
    spectra(a, b, xy);
    __global real2 *z = (__global real2 *)out + w.out + (size_t)k * step.w;
#if LANES == 1
    if (w.here > 0) z[0] = xy[0] * scale;
    if (w.here > 1) z[partner.y] = xy[1] * scale;
#else
    real x[WIDTH], y[WIDTH];
    GLUE(vstore, WIDTH)(xy[0] * scale, 0, x);
    GLUE(vstore, WIDTH)(xy[1] * scale, 0, y);
    for (int l = 0; l < LANES; l++) {
        if (w.here > 2 * l) z[(size_t)(2 * l) * step.z] = (real2)(x[l], x[LANES + l]);
        if (w.here > 2 * l + 1) z[(size_t)(2 * l + 1) * step.z] = (real2)(y[l], y[LANES + l]);
    }
#endif
}

// Element i of every sequence times table[i], for the convolution of transforms too long for local memory.
// Global: elements · groups of LANES sequences.
__kernel void fft_multiply(__global const real *in, __global const real2 *table, __global real *out,
                           int4 in_step, int4 out_step, int2 partner, int4 count, real scale, int points,
                           int groups) {
    const int id = get_global_id(0);
#ifdef ALONG
    const int i = id % points, group = id / points;
#else
    const int i = id / groups, group = id % groups;
#endif
    if (group >= groups || i >= points) return;
    const Place w = place(group, 0, 1, count, in_step, out_step);
    store(out, w, i, times(load(in, w, i, count, in_step, partner), table[i]), scale, 0, count, out_step);
}
