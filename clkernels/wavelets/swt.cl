// One axis of the stationary wavelet transform (undecimated, à trous) and of its inverse, periodic.
//
//   low[k] = Σ_j lo[j] x[k + first − j · apart],  high with hi
//   x[k] = Σ_j lo[j] low[k + first − j · apart] + hi[j] high[k + first − j · apart]
//
// apart = 2^(level − 1). The inverse is the mean of those of all decimated transforms that the stationary one contains
// (Nason and Silverman, 1995); the factor is in the filters: lo[0], hi[0], lo[1], …
// A stack of planes is (outer, n, inner): the axis has n samples, `inner` of them apart. A work-item computes WIDTH
// neighbours in memory: at the same place of WIDTH axes, or along it with -D ROWS, for inner = 1.
// Global size: (inner / WIDTH, n, outer); with ROWS (n / WIDTH, 1, outer). Any local size.  S, V: dwt_extension.cl.

// Tells compilers that spread work-items over vector registers (Intel's) that the registers are full already.
#define ALREADY_WIDE __attribute__((vec_type_hint(V)))

typedef struct {
    size_t line;    // of the axis' first sample
    int k;          // the first result's place
    int count;      // how many of WIDTH results exist, if any
    bool interior;  // all taps are inside the axis
} Place;

static inline Place find_place(int taps, int outer, int n, int inner, int first, int apart) {
    Place at;
    const int lane = get_global_id(0) * WIDTH;
#ifdef ROWS
    const int beyond = WIDTH - 1;
    at.k = lane;
    at.line = get_global_id(2) * n;
    at.count = n - lane;
#else
    const int beyond = 0;
    at.k = get_global_id(1);
    at.line = get_global_id(2) * n * inner + lane;
    at.count = at.k < n ? inner - lane : 0;
#endif
    if (get_global_id(2) >= (size_t)outer) at.count = 0;
    at.interior = at.k + first - (taps - 1) * apart >= 0 && at.k + beyond + first < n;
    return at;
}

static inline int around(int i, int n) {
    i %= n;
    return i < 0 ? i + n : i;
}

// What WIDTH results need of sample i of the first one's axis; `in` begins with that axis.
static inline V fetch(__global const S *in, int i, int n, int inner, Place at) {
#if defined(ROWS) && WIDTH > 1
    if (at.interior) return JOIN(vload, WIDTH)(0, in + i);
    S s[WIDTH];
    for (int lane = 0; lane < WIDTH; lane++) s[lane] = in[around(i + lane, n)];
    return JOIN(vload, WIDTH)(0, s);
#else
    return load_some(in + (size_t)(at.interior ? i : around(i, n)) * inner, at.count);
#endif
}

__kernel ALREADY_WIDE void stationary(__global const S *in, __global S *low, __global S *high,
                                      __constant const S *filters, int taps, int outer, int n, int inner, int first,
                                      int apart) {
    const Place at = find_place(taps, outer, n, inner, first, apart);
    if (at.count <= 0) return;
    V l = 0, h = 0;
    for (int j = 0; j < taps; j++) {
        const V x = fetch(in + at.line, at.k + first - j * apart, n, inner, at);
        l += filters[2 * j] * x;
        h += filters[2 * j + 1] * x;
    }
    store_some(l, low + at.line + (size_t)at.k * inner, at.count);
    store_some(h, high + at.line + (size_t)at.k * inner, at.count);
}

__kernel ALREADY_WIDE void restored(__global const S *low, __global const S *high, __global S *out,
                                    __constant const S *filters, int taps, int outer, int n, int inner, int first,
                                    int apart) {
    const Place at = find_place(taps, outer, n, inner, first, apart);
    if (at.count <= 0) return;
    V x = 0;
    for (int j = 0; j < taps; j++) {
        const int i = at.k + first - j * apart;
        x += filters[2 * j] * fetch(low + at.line, i, n, inner, at);
        x += filters[2 * j + 1] * fetch(high + at.line, i, n, inner, at);
    }
    store_some(x, out + at.line + (size_t)at.k * inner, at.count);
}
