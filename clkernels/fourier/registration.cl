// The cross-power spectrum of two images, and its inverse transform at finely spaced places, along columns.
// Source: Guizar-Sicairos, Thurman and Fienup, "Efficient subpixel image registration algorithms", Opt. Lett. 33, 156
// (2008). Layout: rows × columns, complex elements are interleaved. -D REAL=float|double

typedef REAL real;
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
typedef GLUE(REAL, 2) real2;

static inline real2 product(real2 a, real2 b) {
    return (real2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// reference ← reference · conj(moving), divided by its absolute value where that is `least` or more, else by `least`
// (PHASE). Global: the elements, 1-D; any group size.
__kernel void cross_power(__global real2 *reference, __global const real2 *moving, ulong count, float least) {
    size_t id = get_global_id(0);
    if (id >= count) return;
    real2 b = moving[id], p = product(reference[id], (real2)(b.x, -b.y));
#ifdef PHASE
    p /= max(hypot(p.x, p.y), (real)least);
#endif
    reference[id] = p;
}

// out[place][column] = Σ over rows of factors[place][row] · spectrum[row][column]. Global: (columns, places).
__kernel void dft_of_columns(__global const real2 *spectrum, __global const real2 *factors, __global real2 *out,
                             int rows, int columns, int places) {
    int column = get_global_id(0), place = get_global_id(1);
    if (column >= columns || place >= places) return;
    factors += (size_t)place * rows;
    real2 sum = 0;
    for (int row = 0; row < rows; row++) sum += product(factors[row], spectrum[(size_t)row * columns + column]);
    out[(size_t)place * columns + column] = sum;
}
