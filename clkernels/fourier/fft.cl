// Discrete Fourier transforms of many sequences at once:  X[k] = Σ_n x[n] · exp(−2πi·n·k / N).
//
// What is here reads, writes and multiplies. Behind it come butterflies (gpuops/fourier/engine/butterflies.py) and the
// kernel itself (fft_local.cl or fft_global.cl), which calls take() → stages → give(). The inverse is the forward transform
// with real and imaginary parts swapped on the way in and out.
//
// Layout: sequence (outer, middle, beside) has element i at  outer·s.x + middle·s.y + beside·s.z + i·s.w  (steps s,
// in elements); complex arrays are interleaved. A work-item carries LANES sequences that are neighbours in `beside`:
// 1 on a GPU; the lanes of a vector register on a CPU.
//
// A real image of even width is a complex image of half the width, two neighbours a value, and is transformed as one:
// first columns, then rows A[k] of M = N/2 points. As those of even columns and of odd ones are spectra of real images,
// E + i·O = A[k] has conj E + i·conj O at −q of row −k. So rows k and −k are one work-item's (TWIN), and their spectrum
//   X[k, q] = E[q] + w_N^q·O[q]     X[k, q + M] = E[q] − w_N^q·O[q] = conj X[−k, M − q].
// Of a single sequence whose own neighbours are packed the same holds without k: it is its own twin (PAIRS_ALONG).
//
// -D REAL=float|double  -D LANES=n  -D REALS=2n   LANES sequences in one complex value
// -D HALF_IN, HALF_OUT    complex numbers of the input, of the output are two half floats
// -D SWAP_IN, -D SWAP_OUT     real and imaginary parts
// -D LOAD_SAMPLES | LOAD_HERMITIAN     input: real, see element(); half a spectrum, with X[N−k] = conj X[k]. Else complex
// -D LOAD_IMAGE         input: pairs of an image, and what stands around it, see around()
// -D STORE_SAMPLES      output: real. Else complex;  -D STORE_PIXELS: real as pixels, channels interleaved. Then this stands
//                       after lanes.cl, colour.cl and encode.cl, which say of what type and by which curve
// -D PAIRS_ALONG        real pairs are elements 2n and 2n + 1 of a sequence, rather than of sequences 2k and 2k + 1
// -D ALL_PAIRS          no pair lacks its second;  -D PAIR_STEP=n    to it, where that is compiled in
// -D UNALIASED=restrict|nothing    of tables: a GPU reads them 3 % faster, but a CPU's compiler (Intel's) then errs
// -D SAMPLE=type -D GAIN=g    of an input of pixels, channels interleaved, and what they are multiplied by; -D HALF:
//                       SAMPLE is ushort, the bits of half floats
// -D PLANES=n           of pixels, read or written: those of the same pixels follow each other
//                       -D PIXEL_STEP=n    from a pair's first pixel to its second, where sequences are pairs
// -D IN_TURN            a work-item takes all channels of bytes, one after the other
// -D BORDER_x           what stands around an image (border.cl); where they are compiled in -D HIGH=n -D WIDE=n, elements
//                       of both axes, and -D ROWS=n -D COLUMNS=n, those of the image: a remainder takes long
// -D TWINS -D JOINED=m  sequences k and n − k, and m − 1 further ones n apart each, are one work-item's: see carried();
//                       -D TWIN=n    where n is compiled in
// -D SPECTRUM_IN        the input is their spectrum
// -D PITCH=n            of a transfer function's rows
// -D FACTOR_IN, -D FACTOR_OUT=1|-1     element i (n: of the whole transform) times factors[i], or its conjugate
// -D FACTORS=n -D FACTOR_BY=i|n        of so many, beyond which are Bluestein's zeros
// -D LENGTH=n           of the whole transform, where the input is half a spectrum
// -D IN_ALL, -D OUT_ALL       every element exists in the input, is wanted of the output
// -D IN_STEP=n, -D OUT_STEP=n     from element to element, where that is compiled in;  -D UNSCALED: scale is 1
// -D LANES_IN_ORDER, -D LANES_OUT_ORDER    neighbouring sequences are neighbours in memory (vector access)
// -D SPLIT=1|2          first or second half of a transform of N = N1·N2 points too long for local memory
//                       (four-step: Bailey, "FFTs in external or hierarchical memory", 1990); -D GAP=N2 or N1
// -D SWAPPED            what the first half stores is swapped yet: Bluestein's convolution ends so
// -D SPLIT_BESIDE       the other half's index runs along `beside` (rows) rather than `middle` (columns)

#define ROLLED __attribute__((opencl_unroll_hint(1)))  // a loop that is to stay one
#define UNROLLED __attribute__((opencl_unroll_hint))   // as in lanes.cl
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)

#ifndef GAP
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
#ifndef TWIN
#define TWIN s.edge.y
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

// The same, as the conjugate of the (n − j)-th. The way back of a convolution takes it, which needs the roots of the way
// there once more. Compilers would keep those, or what they are made of, across barriers, and Intel's errs where a kept
// number is subtracted as well.
static inline real2 root_again(int j, int n) {
    real2 w = root(n - j, n);
    return (real2)(w.x, -w.y);
}

// Of all sequences.
typedef struct {
    int4 in, out;  // steps
    int4 more;     // to the next of joined sequences in the input, in the output; to a pair's second; pixels in all.
                   // Of an image first the transform's elements along both axes
    int4 count;    // sequences beside each other, in the middle; elements that exist in the input, that are wanted
    int4 edge;     // image: height, width, origin's row and column; transfer function: rows of a plane (0: one for all);
                   // where there are twins, behind it: TWIN; pixels: the first plane's channel
    real scale;
} Shape;

// Where a work-item's sequences lie. A lane behind the last one is the last one once more, so that lanes need no tests;
// what it writes is the same once more.
typedef struct {
    size_t in, out;  // address of the first lane's element 0
    int o, m, q;     // outer, middle; which of joined sequences
    int k;           // beside: of the first lane
    int lane;        // 1 or −1: from a lane's k to the next one's
    int rest;        // the last lane that is another one
    int in_back, out_back;  // so much less have other lanes than the first (it alone begins anew)
    bool there, stored;  // where LANES is 1: the sequence exists; this work-item writes it
} Place;

static inline Place place(int group, int column, int columns, Shape s) {
    int per = columns * LANES, groups = (s.count.x + per - 1) / per, last = s.count.x - 1;
    Place w;
#ifdef IN_TURN
    w.o = 0;
    w.m = group / groups;
#elif defined(PLANES)
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
#ifdef STORE_PIXELS
    w.out += s.edge.x;
#elif defined(PLANES)
    w.in += s.edge.x;
#endif
    return w;
}

// Sequence `beside` of lane l.
static inline int beside(Place w, int l) {
    return w.k + w.lane * min(l, w.rest);
}

// The q-th of joined sequences; or, of sequence −k, which is in row TWIN − k: packed ones begin anew after TWIN rows, those
// of a spectrum after all joined ones.
static inline Place carried(Place w, int q, int twin, Shape s) {
    Place v;  // filled by field: Mesa's compiler lets changes of a copied struct through to the original
    v.in = w.in + (size_t)q * s.more.x;
    v.out = w.out + (size_t)q * s.more.y;
    v.o = w.o;
    v.m = w.m;
    v.q = q;
    v.k = w.k;
    v.lane = w.lane;
    v.rest = w.rest;
    v.in_back = v.out_back = 0;
    v.there = v.stored = w.there;
#ifdef TWINS
    if (twin) {
        int packed = w.k ? 0 : TWIN, spectrum = w.k || q < JOINED - 1 ? 0 : JOINED * TWIN;
#ifdef SPECTRUM_IN
        v.in_back = -spectrum * s.in.z;
        v.out_back = -packed * s.out.z;
#else
        v.in_back = -packed * s.in.z;
        v.out_back = -spectrum * s.out.z;
#endif
        v.k = TWIN - w.k;
        v.lane = -1;
        v.in += (size_t)((long)(v.k - w.k) * s.in.z + v.in_back);
        v.out += (size_t)((long)(v.k - w.k) * s.out.z + v.out_back);
        v.stored = v.stored && v.k != TWIN && v.k != w.k;  // not its own twin
    }
#endif
    return v;
}

// The other half's index of a transform in halves.
static inline int other(Place w) {
#ifdef SPLIT_BESIDE
    return w.k;
#else
    return w.m;
#endif
}

// -- in -----------------------------------------------------------------------------------------------------------

#ifdef LOAD_IMAGE
// Pixels 2k and 2k + 1 of a row of an image with what stands around it. Of each axis, what is beyond the first so many
// lies before the image; all of it `edge.z` or `edge.w` further on.
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

#ifdef IN_TURN
// Elements i of all channels: of a pair of pixels, all bytes.
static inline ulong pixels(__global const uchar *in, Place w, uint i, Shape s) {
    if (!w.there || !EXISTS(i)) return 0;
    size_t at = w.in + (size_t)i * IN_STEP;
    __global const uint *words = (__global const uint *)(in + (at & ~(size_t)3));
    return (PLANES > 2 ? upsample(words[1], words[0]) : words[0]) >> 8 * (at & 3);
}

// Element i of the next channel.
static inline cplx channel(ulong *pixels) {
    real2 a = (real2)((uchar)*pixels * GAIN, (uchar)(*pixels >> 8 * PLANES) * GAIN);
    *pixels >>= 8;
    return a;
}
#endif

#ifdef PITCH
// The transfer function's value in column `column`.
static inline cplx transfer(__global const real2 *h, Place w, int column, Shape s) {
    int row = w.k + w.q * TWIN, around = row == JOINED * TWIN ? row : 0;
    h += ((size_t)w.o * s.edge.x + row - around) * PITCH + column;
#if LANES == 1
    return w.there ? *h : (real2)0;
#else
    return gathered((__global const in_stored *)h, w.lane * PITCH, w.rest, -around * PITCH);
#endif
}
#endif

// -- out ----------------------------------------------------------------------------------------------------------

#ifdef STORE_PIXELS
// What a kernel and give() have beside other arguments: encode's table, and its counts of what does not fit.
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
    int colour = w.o + s.edge.x < COLOURS;
    real t[REALS];
    GLUE(vstore, REALS)(v, 0, t);
    for (int part = 0; part < 2; part++)
        for (int l = 0; l < LANES; l += WIDTH) {
            __global PIXEL *to = out + l * LANE_STEP(out) + part * PAIR_STEP;
            int there = min(w.rest + 1, part ? s.more.w / 2 - w.k : LANES) - l;  // of WIDTH lanes from l on
#if WIDTH == 1
            if (there > 0) *to = encode((float)t[part * LANES + l], colour, codes, 1, losses);
#else
            FLOAT a = TO_FLOAT(GLUE(vload, WIDTH)(0, t + part * LANES));
            PIXEL u[WIDTH];
            vstore8(encode(a, colour, codes, LANE_INDEX < (INT)there, losses), 0, u);
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

// -- what kernels have in common ----------------------------------------------------------------------------------

#define ARGUMENTS                                                                                                  \
    __global const SAMPLE *in, __global const real2 *UNALIASED tables, __global const real2 *UNALIASED factors,    \
        __global const real2 *UNALIASED roots, __global real *out, int4 in_step, int4 out_step, int4 more,         \
        int4 count, int4 edge, real scale ENCODING

static inline void dft1(cplx *x) {
}
