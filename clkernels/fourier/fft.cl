// Discrete Fourier transforms of many sequences at once:  X[k] = Σ_n x[n] · exp(−2πi·n·k / N).
//
// This file says where sequences lie, and has the arithmetic of complex numbers. Behind it come fft_take.cl and
// fft_give.cl, which read and write; butterflies (gpuops/fourier/engine/butterflies.py); and the kernel itself
// (fft_local.cl, fft_wide.cl or fft_global.cl), which calls take() → stages → give(). The inverse is the forward transform
// with real and imaginary parts swapped on the way in and on the way out.
//
// Layout: sequence (outer, middle, beside) has element i at  outer·s.x + middle·s.y + beside·s.z + i·s.w  (steps s,
// in elements); complex arrays are interleaved. A work-item carries LANES sequences that are neighbours in `beside`:
// 1 on a GPU; the lanes of a vector register on a CPU.
//
// A real image of even width is transformed as a complex image of half the width, each value of which is a pair of
// neighbours: first its columns, then its rows. The result is rows A[k] of M = N/2 points. With E for the spectrum of the
// even columns and O for that of the odd ones, A[k] is E + i·O. Both are spectra of real images, so row −k has
// conj E + i·conj O at −q. Hence a work-item takes row k and its opposite −k, and makes their spectrum:
//   X[k, q] = E[q] + w_N^q·O[q]     X[k, q + M] = E[q] − w_N^q·O[q] = conj X[−k, M − q].
// The same holds, without k, for a single sequence whose own neighbours are pairs: it is its own mirror image.
//
// These definitions are for all three files. "Compiled in" means: else an argument says it.
// REAL=float|double       the type of real numbers
// LANES=n, REALS=2n       the sequences in one complex value, and its real numbers
// UNALIASED=restrict|     qualifies tables: a GPU reads them 3 % faster then, but a CPU's compiler (Intel's) errs
// UNFUSED                 a·b − c·d is two products and a difference, not one product and fma(): Intel's compiler for CPUs
//                         errs in that where a barrier is between two uses of a factor
// HALF_IN, HALF_OUT       the complex numbers of the input, or of the output, are two half floats each
// SWAP_IN, SWAP_OUT       real and imaginary parts change places
// IN_ALL, OUT_ALL         every element exists in the input, or is wanted of the output
// IN_STEP=n, OUT_STEP=n   the step from element to element, where it is compiled in
// UNSCALED                the scale is 1
// ANY_LENGTH              LENGTH, FACTORS, GAP and PITCH are not compiled in
// LANES_IN_ORDER, LANES_OUT_ORDER    neighbouring sequences are neighbours in memory, so that vectors are read or written
//
// What is read and written is complex unless one of these says otherwise:
// LOAD_SAMPLES            the input is real: see element()
// LOAD_HERMITIAN          the input is half a spectrum, with X[N − k] = conj X[k]; LENGTH=N
// LOAD_IMAGE              the input is pairs of an image and of its surroundings: see around()
// BORDER_x, CVAL=v        the surroundings: see border.cl, which stands before this
// HIGH=n, WIDE=n, ROWS=n, COLUMNS=n    the transform's and the image's size, where they are compiled in: a remainder takes
//                         long
// STORE_SAMPLES           the output is real
// STORE_PIXELS            the output is pixels. lanes.cl, colour.cl and encode.cl stand before this and say their type
// SAMPLE=type, GAIN=g     the input is pixels, which are multiplied by g
// HALF                    those pixels are half floats, whose bits are SAMPLE
// PLANES=n                the pixels that are read or written have n planes, which follow each other
// PIXEL_STEP=n            the step from a pair's first pixel to its second, where sequences are pairs of pixels
//
// Pairs of real numbers:
// PAIRS_ALONG             a pair is elements 2n and 2n + 1 of a sequence, else an element of sequences 2k and 2k + 1
// ALL_PAIRS               no pair lacks its second number
// PAIR_STEP=n             the step to the second number, where it is compiled in
// OPPOSITES               a work-item has sequences k and n − k: see carried(); APART=n where n is compiled in
// JOINED=m                it has further sequences, m in all, n apart each
// SPECTRUM_IN             the input is their spectrum
// PITCH=n                 the elements from row to row of the transfer function that multiplies the spectrum
//
// Transforms in several launches, and Bluestein's convolution:
// SPLIT=1|2               this is the first or the second half of a transform of N = N1·N2 points too long for local
//                         memory (four-step: Bailey, "FFTs in external or hierarchical memory", 1990)
// GAP=n                   the other half's length. Its index runs along `beside` with SPLIT_BESIDE (rows), else `middle`
// FACTOR_IN               element i of the input is multiplied by factors[i]
// FACTOR_OUT=1|-1         element i of the output is multiplied by factors[i], or by its conjugate
// FACTORS=n               the number of factors; beyond them are Bluestein's zeros
// FACTOR_BY=i|n           the index of factors is that in this half (i) or in all of the transform (n)
// SWAPPED                 the first half ends with Bluestein's convolution, whose result is still swapped

#define ROLLED __attribute__((opencl_unroll_hint(1)))  // a loop that is to stay one
#define UNROLLED __attribute__((opencl_unroll_hint))   // as in lanes.cl
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)

#ifdef ANY_LENGTH
#define LENGTH s.length.x
#define FACTORS s.length.y
#define GAP s.length.z
#define PITCH s.length.w
#elif !defined(GAP)
#define GAP 1
#endif
#ifndef SAMPLE
#define SAMPLE REAL
#define VALUE(p) (*(p))
#elif defined(HALF)
#define VALUE(p) vload_half(0, (__global const half *)(p))
#else
#define VALUE(p) ((float)*(p) * GAIN)
#endif
#ifdef IN_ALL
#define EXISTS(n) 1
#else
#define EXISTS(n) ((n) < s.count.z)
#endif
#ifdef OUT_ALL
#define WANTED(n) 1
#else
#define WANTED(n) ((n) < s.count.w)
#endif
#ifndef PAIR_STEP
#define PAIR_STEP s.more.z
#endif
#ifdef PIXEL_STEP
#define LANE_STEP(end) (2 * PIXEL_STEP)
#else
#define LANE_STEP(end) (size_t)s.end.z
#endif
#ifndef ROWS
#define ROWS s.edge.x
#define COLUMNS s.edge.y
#define HIGH s.more.x
#define WIDE s.more.y
#endif
#ifndef APART
#define APART s.edge.y
#endif
#ifndef IN_STEP
#define IN_STEP s.in.w
#endif
#ifndef OUT_STEP
#define OUT_STEP s.out.w
#endif

#if defined(ALL_PAIRS)
#define SECOND(n, k) 1
#elif defined(PAIRS_ALONG)
#define SECOND(n, k) (2 * (n) + 1 < s.more.w)
#else
#define SECOND(n, k) (2 * (k) + 1 < s.more.w)
#endif

// A literal of type real, and a polynomial in y of ten coefficients.
#define NUMBER_float(literal) literal##f
#define NUMBER_double(literal) literal
#define NUMBER(literal) GLUE(NUMBER_, REAL)(literal)
#define HORNER(a, b, c, d, e, f, g, h, i, j) \
    (a + y * (b + y * (c + y * (d + y * (e + y * (f + y * (g + y * (h + y * (i + y * j)))))))))

#ifdef UNFUSED
#pragma OPENCL FP_CONTRACT OFF
#endif

typedef REAL real;
typedef GLUE(REAL, 2) real2;
typedef GLUE(REAL, REALS) cplx;  // LANES complex numbers: real parts in .lo, imaginary parts in .hi

// A complex number in memory, of the input and of the output.
#ifdef HALF_IN
typedef uint in_stored;
static inline real2 value(__global const in_stored *p) {
    return vload_half2(0, (__global const half *)p);
}
#else
typedef real2 in_stored;
static inline real2 value(__global const in_stored *p) {
    return *p;
}
#endif
#ifdef HALF_OUT
typedef uint out_stored;
static inline void write(__global out_stored *p, real2 a) {
    vstore_half2(a, 0, (__global half *)p);
}
#else
typedef real2 out_stored;
static inline void write(__global out_stored *p, real2 a) {
    *p = a;
}
#endif

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

static inline cplx conjugate(cplx a) {
    return (cplx)(a.lo, -a.hi);
}

static inline cplx reflected(cplx a) {  // −conj a: as a minus before conjugate() Intel's compiler gets it wrong
    return (cplx)(-a.lo, a.hi);
}

// exp(−2πi·j/n), 0 ≤ j ≤ n. With x = (2j − n)/n, from −1 to 1, it is (−cos πx, sin πx). Both are products over their zeros
// and even polynomials, which interpolate  sin πx / (x(1 − x²))  and  cos πx / (1 − 4x²)  in y = x² at Chebyshev's nodes of
// 0 … 1, to 3e-17. Rounding makes the root's parts 2.5 units in the last place of 1 wrong, at most.
// The built-in sinpi and cospi compare. A compiler may keep such comparisons across a barrier as a vector of bits, of which
// LLVM 15, which is PoCL's, then reads single ones from wrong addresses.
static inline real2 root(int j, int n) {
    const real x = (real)(2 * j - n) / (real)n, y = x * x;
    const real sine = HORNER(NUMBER(3.141592653589793), NUMBER(-2.026120126460173), NUMBER(0.5240439134170486),
                             NUMBER(-0.07522061590208608), NUMBER(0.006925270697499447), NUMBER(-0.00044516020078506175),
                             NUMBER(2.1142482257621263e-05), NUMBER(-7.726653626528434e-07),
                             NUMBER(2.2316263150901134e-08), NUMBER(-4.795585299774921e-10));
    const real cosine = HORNER(NUMBER(1.0), NUMBER(-0.9348022005446727), NUMBER(0.31950332423783023),
                               NUMBER(-0.057249471899557834), NUMBER(0.006332742730945354),
                               NUMBER(-0.0004759203237541083), NUMBER(2.5892581981078213e-05),
                               NUMBER(-1.0669271789494348e-06), NUMBER(3.4283071559158883e-08),
                               NUMBER(-8.05331395730229e-10));
    return (real2)((2 * x - 1) * (2 * x + 1) * cosine, x * (1 - x) * (1 + x) * sine);
}

// The layout and the sizes of all sequences.
typedef struct {
    int4 in, out;  // steps
    int4 more;     // steps to the next joined sequence in the input and in the output, and to a pair's second number;
                   // the number of pixels. For an image the first two are the transform's elements along both axes
    int4 count;    // sequences beside each other, in the middle; elements that exist in the input, that are wanted
    int4 edge;     // image: height, width, origin's row and column; transfer function: rows of a plane (0: one for all);
                   // where there are opposites, behind it: APART
    real scale;
#ifdef ANY_LENGTH
    int4 length;  // LENGTH, FACTORS, GAP and PITCH
#endif
} Shape;

// Where a work-item's sequences lie. A lane behind the last one is the last one once more, so that lanes need no tests;
// what it writes is the same once more.
typedef struct {
    size_t in, out;  // address of the first lane's element 0
    int o, m, q;     // outer, middle; which of joined sequences
    int k;           // beside: of the first lane
    int lane;        // 1 or −1: from a lane's k to the next one's
    int rest;        // the last lane that is another one
    int in_back, out_back;  // the address of other lanes is so much less: only the first one begins anew
    bool there, stored;  // where LANES is 1: the sequence exists; this work-item writes it
} Place;

static inline Place place(int group, int column, int columns, Shape s) {
    int per = columns * LANES, groups = (s.count.x + per - 1) / per, last = s.count.x - 1;
    Place w;
#ifdef PLANES
    w.o = group % PLANES;
    group /= PLANES;
    w.m = group / groups;
#else
    w.m = group / groups % s.count.y;
    w.o = group / groups / s.count.y;
#endif
    int k = (group % groups) * per + column * LANES;
    w.q = 0;
    w.k = min(k, last);
    w.lane = 1;
    w.rest = min(last - w.k, LANES - 1);
    w.in_back = w.out_back = 0;
    w.there = w.stored = k <= last;
    w.in = (size_t)w.o * s.in.x + (size_t)w.m * s.in.y + (size_t)w.k * s.in.z;
    w.out = (size_t)w.o * s.out.x + (size_t)w.m * s.out.y + (size_t)w.k * s.out.z;
    return w;
}

// Sequence `beside` of lane l.
static inline int beside(Place w, int l) {
    return w.k + w.lane * min(l, w.rest);
}

// Fills v with the place of the q-th of the joined sequences, or of its opposite −k. That is in row APART − k: pairs begin
// anew after APART rows, and spectra after all joined ones. Each member is filled on its own, as Mesa's compiler lets
// changes of a copied struct through to the original.
static inline void carried(Place *v, Place w, int q, int opposite, Shape s) {
    v->in = w.in + (size_t)q * s.more.x;
    v->out = w.out + (size_t)q * s.more.y;
    v->o = w.o;
    v->m = w.m;
    v->q = q;
    v->k = w.k;
    v->lane = w.lane;
    v->rest = w.rest;
    v->in_back = v->out_back = 0;
    v->there = v->stored = w.there;
#ifdef OPPOSITES
    if (opposite) {
        int packed = w.k ? 0 : APART, spectrum = w.k || q < JOINED - 1 ? 0 : JOINED * APART;
#ifdef SPECTRUM_IN
        v->in_back = -spectrum * s.in.z;
        v->out_back = -packed * s.out.z;
#else
        v->in_back = -packed * s.in.z;
        v->out_back = -spectrum * s.out.z;
#endif
        v->k = APART - w.k;
        v->lane = -1;
        v->in += (size_t)((long)(v->k - w.k) * s.in.z + v->in_back);
        v->out += (size_t)((long)(v->k - w.k) * s.out.z + v->out_back);
        v->stored = v->stored && v->k != APART && v->k != w.k;  // not its own opposite
    }
#endif
}

// The other half's index of a transform in halves.
static inline int other(Place w) {
#ifdef SPLIT_BESIDE
    return w.k;
#else
    return w.m;
#endif
}

// The arguments that both kernels have.
#define ARGUMENTS                                                                                                  \
    __global const SAMPLE *in, __global const real2 *UNALIASED tables, __global const real2 *UNALIASED factors,    \
        __global const real2 *UNALIASED roots, __global real *out, int4 in_step, int4 out_step, int4 more,         \
        int4 count, int4 edge, real scale ENCODING LENGTHS
#ifdef ANY_LENGTH
#define LENGTHS , int4 length
#define SHAPE {in_step, out_step, more, count, edge, scale, length}
#else
#define LENGTHS
#define SHAPE {in_step, out_step, more, count, edge, scale}
#endif

static inline void dft1(cplx *x) {
}
