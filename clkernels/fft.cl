// Discrete Fourier transforms of many sequences at once:  X[k] = Σ_n x[n] · exp(−2πi·n·k / N).
//
// What is here reads, writes and multiplies. Behind it come butterflies (gpuops/fft/butterflies.py) and the kernel itself
// (gpuops/fft/generate.py), which calls load() → stages, exchanging through local memory → store(). The inverse is the
// forward transform with real and imaginary parts swapped on the way in and out.
//
// Layout: sequence (outer, middle, beside) has element i at  outer·s.x + middle·s.y + beside·s.z + i·s.w  (steps s,
// in elements); complex arrays are interleaved. A work-item carries LANES sequences that are neighbours in `beside`:
// 1 on a GPU; the lanes of a vector register on a CPU.
//
// A real image of even width is a complex image of half the width, two neighbours a value, and is transformed as one:
// first columns, then rows A[k] of M = N/2 points. As those of even columns and of odd ones are spectra of real images,
// E + i·O = A[k] has conj E + i·conj O at −q of row −k. So rows k and −k are one work-item's (TWIN), and their spectrum
//   X[k, q] = E[q] + w_N^q·O[q]     X[k, q + M] = E[q] − w_N^q·O[q] = conj X[−k, M − q].
//
// -D REAL=float|double  -D LANES=n  -D WIDTH=2n   LANES sequences in one complex value
// -D SWAP_IN, -D SWAP_OUT     real and imaginary parts
// -D LOAD_SAMPLES | LOAD_HERMITIAN     input: real, see element(); half a spectrum, with X[N−k] = conj X[k]. Else complex
// -D STORE_SAMPLES      output: real. Else complex
// -D SAMPLE=type -D GAIN=g    of an input of pixels, channels interleaved, and what they are multiplied by; -D HALF:
//                       SAMPLE is ushort, the bits of half floats;  -D CHANNELS=n: one plane for each
// -D BORDER_x -D HIGH=n -D WIDE=n     the input is an image in n × n elements, with what stands around it (border.cl)
// -D IN_PAIRS           it lies at the origin, and a row's pairs at even addresses
// -D TWIN=n -D JOINED=m sequences k and n − k, and m − 1 further ones n apart each, are one work-item's: see carried()
// -D SPECTRUM_IN        the input is their spectrum
// -D PITCH=n            of a transfer function's rows, half spectra
// -D FACTOR_IN, -D FACTOR_OUT=1|-1     element i (n: of the whole transform) times factors[i], or its conjugate
// -D FACTORS=n -D FACTOR_BY=i|n        of so many, beyond which are Bluestein's zeros
// -D LENGTH=n           of the whole transform, where the input is half a spectrum
// -D IN_ALL, -D OUT_ALL       every element exists in the input, is wanted of the output
// -D IN_STEP=n, -D OUT_STEP=n     from element to element, where that is compiled in;  -D UNSCALED: scale is 1
// -D LANES_IN_ORDER, -D LANES_OUT_ORDER    neighbouring sequences are neighbours in memory (vector access)
// -D SPLIT=1|2          first or second half of a transform of N = N1·N2 points too long for local memory
//                       (four-step: Bailey, "FFTs in external or hierarchical memory", 1990); -D GAP=N2 or N1
// -D SPLIT_BESIDE       the other half's index runs along `beside` (rows) rather than `middle` (columns)

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
#define VALUE(p) (*(p) * (real)GAIN)
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
#ifndef IN_STEP
#define IN_STEP s.in.w
#endif
#ifndef OUT_STEP
#define OUT_STEP s.out.w
#endif

#define ALL ((1 << LANES) - 1)

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

static inline cplx conjugate(cplx a) {
    return (cplx)(a.lo, -a.hi);
}

// exp(−2πi·j/n), 0 ≤ j < n, to the accuracy of sinpi and cospi (4 ulp), the angle reduced to half a turn first.
static inline real2 root(int j, int n) {
    real angle = (real)(2 * j > n ? j - n : j) * (real)2 / (real)n;
    return (real2)(cospi(angle), -sinpi(angle));
}

// Of all sequences.
typedef struct {
    int4 in, out;  // steps
    int4 more;     // to the next of joined sequences in the input, in the output; to a pixel's right; pixels of a row
    int4 count;    // sequences beside each other, in the middle; elements that exist in the input, that are wanted
    int4 edge;     // image: height, width, origin's row and column; transfer function: rows of a plane (0: one for all)
    real scale;
} Shape;

// Where a work-item's sequences lie.
typedef struct {
    size_t in, out;     // address of the first lane's element 0
    size_t back;        // of the first lane alone: so much less in the input
    int o, m, k, lane;  // outer, middle, beside: of the first lane, k + lane of the next
    int q;              // which of joined sequences
    int loaded, stored;  // lanes whose sequence exists, whose result is wanted: a bit each
} Place;

static inline Place place(int group, int column, int columns, Shape s) {
    int per = columns * LANES, groups = (s.count.x + per - 1) / per;
    Place w;
#ifdef CHANNELS  // those of the same pixels follow each other
    w.o = group % CHANNELS;
    group /= CHANNELS;
    w.m = group / groups;
#else
    w.m = group / groups % s.count.y;
    w.o = group / groups / s.count.y;
#endif
    w.k = (group % groups) * per + column * LANES;
    w.in = (size_t)w.o * s.in.x + (size_t)w.m * s.in.y + (size_t)w.k * s.in.z;
    w.out = (size_t)w.o * s.out.x + (size_t)w.m * s.out.y + (size_t)w.k * s.out.z;
    w.back = 0;
    w.q = 0;
    w.lane = 1;
    w.loaded = w.stored = s.count.x - w.k >= LANES ? ALL : (1 << max(0, s.count.x - w.k)) - 1;
    return w;
}

// The q-th of joined sequences; or, of sequence TWIN − k, which lies beside it: packed ones begin anew after TWIN of
// them, those of a spectrum after all joined ones.
static inline Place carried(Place w, int q, int twin, Shape s) {
    Place v;  // filled by field: Mesa's compiler lets changes of a copied struct through to the original
    v.in = w.in + (size_t)q * s.more.x;
    v.out = w.out + (size_t)q * s.more.y;
    v.back = 0;
    v.o = w.o;
    v.m = w.m;
    v.k = w.k;
    v.q = q;
    v.lane = 1;
    v.loaded = v.stored = w.loaded;
#ifdef TWIN
    if (twin) {
        long further = TWIN - 2 * w.k;
        v.in += (size_t)(further * s.in.z);
        v.out += (size_t)(further * s.out.z);
#ifdef SPECTRUM_IN
        v.back = w.k || q < JOINED - 1 ? 0 : (size_t)(JOINED * TWIN) * s.in.z;
#else
        v.back = w.k ? 0 : (size_t)TWIN * s.in.z;
#endif
        v.k = TWIN - w.k;
        v.lane = -1;
        for (int l = 0; l < LANES; l++)  // its own twin
            if (v.k - l == TWIN || 2 * (v.k - l) == TWIN) v.stored &= ~(1 << l);
        if (LANES == 1) v.in -= v.back;
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

// Element i (of the whole transform: n) of sequence k, which lies at `at`.
static inline real2 element(__global const SAMPLE *in, size_t at, int i, int n, int k, Place w, Shape s) {
    real2 a = 0;
#if defined(LOAD_SAMPLES)  // pixels 2k and 2k + 1 of a row are a complex value; or pixel k (more.w is 0)
#ifdef HIGH
    // Of each axis, what is beyond the first so many lies before the image; all of it `edge.z` or `edge.w` further on.
    int y = i * s.count.y + w.m, x = 2 * k;
    y = border_index((y < s.count.z ? y : y - HIGH) + s.edge.z, s.edge.x);
    __global const SAMPLE *row = in + (size_t)w.o * s.in.x + (uint)(max(y, 0) * s.in.y);
#ifdef IN_PAIRS
    if (x + 1 < s.edge.y && y >= 0) {
        a = *(__global const real2 *)(row + x);
    } else
#endif
    {
        real pair[2];
        for (int j = 0; j < 2; j++, x++) {
            int u = border_index((x < s.more.w ? x : x - WIDE) + s.edge.w, s.edge.y);
            pair[j] = y < 0 || u < 0 ? (real)CVAL : row[u];
        }
        a = (real2)(pair[0], pair[1]);
    }
#else
    if (EXISTS(n)) {
        a.x = VALUE(in + at);
        if (2 * k + 1 < s.more.w) a.y = VALUE(in + at + s.more.z);
    }
#endif
#elif defined(LOAD_HERMITIAN)
    bool mirrored = n > LENGTH / 2;
    if (mirrored) at += ((long)LENGTH - 2 * (long)n) * (s.in.w / GAP);
    if (n < LENGTH && EXISTS(mirrored ? LENGTH - n : n)) {  // beyond are Bluestein's zeros
        a = ((__global const real2 *)in)[at];
        if (n == 0 || 2 * n == LENGTH) a.y = 0;  // real by definition: what is there besides is ignored
        if (mirrored) a.y = -a.y;
    }
#else
    if (EXISTS(n)) a = ((__global const real2 *)in)[at];
#endif
#ifdef SWAP_IN
    a = a.yx;
#endif
    return a;
}

#if LANES > 1
// Complex numbers of all lanes, `step` apart.
static inline cplx gathered(__global const real2 *first, long step, long back, int lanes) {
    real t[WIDTH];
    bool all = lanes == ALL && back == 0;  // apart, so that it needs no tests
    for (int l = 0; all && l < LANES; l++) {
        t[l] = first[l * step].x;
        t[LANES + l] = first[l * step].y;
    }
    for (int l = 0; !all && l < LANES; l++) {
        real2 a = lanes >> l & 1 ? first[l * step - (l ? 0 : back)] : (real2)0;
        t[l] = a.x;
        t[LANES + l] = a.y;
    }
    return GLUE(vload, WIDTH)(0, t);
}

static inline void scatter(__global real2 *first, long step, cplx v, int lanes) {
    real t[WIDTH];
    GLUE(vstore, WIDTH)(v, 0, t);
    bool all = lanes == ALL;
    for (int l = 0; all && l < LANES; l++) first[l * step] = (real2)(t[l], t[LANES + l]);
    for (int l = 0; !all && l < LANES; l++)
        if (lanes >> l & 1) first[l * step] = (real2)(t[l], t[LANES + l]);
}
#endif

// Element i of all lanes.
static inline cplx load(__global const SAMPLE *in, __global const real2 *factors, Place w, uint i, Shape s) {
#if defined(SPLIT) && SPLIT == 1
    int n = i * GAP + other(w);
#else
    int n = i;
#endif
    size_t at = w.in + (size_t)i * IN_STEP;
    cplx v = 0;
#if LANES == 1
    if (w.loaded) v = element(in, at, i, n, w.k, w, s);
#elif defined(LOAD_SAMPLES) || defined(LOAD_HERMITIAN)
    real t[WIDTH];
    for (int l = 0; l < LANES; l++) {
        size_t start = at + (size_t)((long)l * w.lane * s.in.z) - (l ? 0 : w.back);
        real2 a = w.loaded >> l & 1 ? element(in, start, i, n, w.k + w.lane * l, w, s) : (real2)0;
        t[l] = a.x;
        t[LANES + l] = a.y;
    }
    v = GLUE(vload, WIDTH)(0, t);
#else
    if (EXISTS(n)) {
#ifdef LANES_IN_ORDER
        if (w.loaded == ALL) {
            v = GLUE(vload, WIDTH)(0, (__global const real *)in + 2 * at);
            v = (cplx)(v.even, v.odd);
        } else
#endif
            v = gathered((__global const real2 *)in + at, (long)w.lane * s.in.z, w.back, w.loaded);
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
// The transfer function's values in column `column` of a row.
static inline cplx transfer(__global const real2 *h, Place w, int column, Shape s) {
    real t[WIDTH];
    for (int l = 0; l < LANES; l++) {
        int row = w.k + w.lane * l + w.q * TWIN;
        if (row == JOINED * TWIN) row = 0;
        real2 a = w.loaded >> l & 1 ? h[((size_t)w.o * s.edge.x + row) * PITCH + column] : (real2)0;
        t[l] = a.x;
        t[LANES + l] = a.y;
    }
    return GLUE(vload, WIDTH)(0, t);
}
#endif

// -- out ----------------------------------------------------------------------------------------------------------

// Element n of sequence k to `at`, if it is wanted.
static inline void put(__global real *out, size_t at, real2 a, int n, int k, Shape s) {
    if (!WANTED(n)) return;
#ifdef SWAP_OUT
    a = a.yx;
#endif
#ifdef STORE_SAMPLES
    out[at] = a.x;
    if (2 * k + 1 < s.more.w) out[at + s.more.z] = a.y;
#else
    ((__global real2 *)out)[at] = a;
#endif
}

// Element i of all lanes, times `scale`; of the first half of a split transform also times exp(−2πi·n2·k1 / N).
static inline void store(__global real *out, __global const real2 *factors, __global const real2 *roots, Place w,
                         uint i, cplx v, Shape s) {
    int n = i;
#if defined(SPLIT) && SPLIT == 1
#ifdef SPLIT_BESIDE
    real r[WIDTH];
    for (int l = 0; l < LANES; l++) {
        real2 a = WANTED(n) && w.stored >> l & 1 ? roots[(w.k + l) * i] : (real2)0;
        r[l] = a.x;
        r[LANES + l] = a.y;
    }
    v = product(v, GLUE(vload, WIDTH)(0, r));
#else
    v = times(v, WANTED(n) ? roots[w.m * i] : (real2)0);
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
#if LANES == 1
    if (w.stored) put(out, at, v, n, w.k, s);
#elif defined(STORE_SAMPLES)
    real t[WIDTH];
    GLUE(vstore, WIDTH)(v, 0, t);
    for (int l = 0; l < LANES; l++)
        if (w.stored >> l & 1) put(out, at + (size_t)l * s.out.z, (real2)(t[l], t[LANES + l]), n, w.k + l, s);
#else
    if (!WANTED(n)) return;
#ifdef SWAP_OUT
    v = swapped(v);
#endif
#ifdef LANES_OUT_ORDER
    if (w.stored == ALL) {
        cplx u;
        u.even = v.lo;
        u.odd = v.hi;
        GLUE(vstore, WIDTH)(u, 0, out + 2 * at);
    } else
#endif
        scatter((__global real2 *)out + at, (long)w.lane * s.out.z, v, w.stored);
#endif
}
