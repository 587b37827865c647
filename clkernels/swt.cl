// One axis of the stationary wavelet transform (undecimated, à trous) and of its inverse, periodic.
//
//   low[k] = Σ_j lo[j] x[k + first − j · apart],  high with hi
//   x[k] = Σ_j lo[j] low[k + first − j · apart] + hi[j] high[k + first − j · apart]
//
// apart = 2^(level − 1). The inverse is the mean of those of all decimated transforms that the stationary one contains
// (Nason and Silverman, 1995); the factor is in the filters: lo[0], hi[0], lo[1], …
// A stack of planes is (outer, n, inner): the axis has n samples, `inner` of them apart. 0 ≤ first < n, apart ≤ n.
// One work-item a sample, one dimension, any group size.  -D S=float|double

typedef struct {
    size_t line;  // of the axis' first sample
    int k;
    size_t id;
} Place;

static inline Place place(int n, int inner) {
    Place p;
    p.id = get_global_id(0);
    p.k = (int)(p.id / inner % n);
    p.line = p.id - (size_t)p.k * inner;
    return p;
}

__kernel void stationary(__global const S *in, __global S *low, __global S *high, __constant const S *filters, int taps,
                         int outer, int n, int inner, int first, int apart) {
    const Place at = place(n, inner);
    if (at.id >= (size_t)outer * n * inner) return;
    S l = 0, h = 0;
    int i = at.k + first - (at.k + first >= n ? n : 0);
    for (int j = 0; j < taps; j++) {
        const S x = in[at.line + (size_t)i * inner];
        l += filters[2 * j] * x;
        h += filters[2 * j + 1] * x;
        i -= apart;
        i += i < 0 ? n : 0;
    }
    low[at.id] = l;
    high[at.id] = h;
}

__kernel void restored(__global const S *low, __global const S *high, __global S *out, __constant const S *filters,
                       int taps, int outer, int n, int inner, int first, int apart) {
    const Place at = place(n, inner);
    if (at.id >= (size_t)outer * n * inner) return;
    S x = 0;
    int i = at.k + first - (at.k + first >= n ? n : 0);
    for (int j = 0; j < taps; j++) {
        const size_t k = at.line + (size_t)i * inner;
        x += filters[2 * j] * low[k];
        x += filters[2 * j + 1] * high[k];
        i -= apart;
        i += i < 0 ? n : 0;
    }
    out[at.id] = x;
}
