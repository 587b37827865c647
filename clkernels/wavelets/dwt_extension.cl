// Samples of a signal beyond its ends, by PyWavelets' modes; index modes are border.cl's.
//
// -D S=float|int      a sample         -D V=S or a vector of WIDTH of them, side by side in memory
// One of -D PERIODIZATION, ANTISYMMETRIC, ANTIREFLECT, SMOOTH (each with the border it builds on), or none of them:
// then border.cl's mode alone decides, and an index outside (−1) is a zero.

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#if WIDTH > 1
static inline V load_some(__global const S *p, int count) {  // the first `count` of WIDTH, the rest repeated
    if (count >= WIDTH) return JOIN(vload, WIDTH)(0, p);
    S s[WIDTH];
    for (int i = 0; i < WIDTH; i++) s[i] = p[min(i, count - 1)];
    return JOIN(vload, WIDTH)(0, s);
}
static inline void store_some(V v, __global S *p, int count) {
    if (count >= WIDTH) {
        JOIN(vstore, WIDTH)(v, 0, p);
    } else {
        S s[WIDTH];
        JOIN(vstore, WIDTH)(v, 0, s);
        for (int i = 0; i < count; i++) p[i] = s[i];
    }
}
#else
static inline V load_some(__global const S *p, int count) { return *p; }
static inline void store_some(V v, __global S *p, int count) { *p = v; }
#endif

// Which of n samples stands at i, for any i, in the modes that only repeat samples; −1 for a zero.
static inline int sample_index(int i, int n) {
#ifdef PERIODIZATION
    return min(border_index(i, n + (n & 1)), n - 1);
#else
    return border_index(i, n);
#endif
}

// Which of `length` coefficients, the low ones or the `odd` ones, of n samples stands at i. By the mirror that is told by
// the samples' places, 2i + odd; a place may belong to the other half's: −1.
static inline int coefficient_index(int i, int odd, int length, int n) {
#ifdef BORDER_MIRROR
    const int place = border_index(2 * i + odd, n);
    return (place & 1) == odd ? place >> 1 : -1;
#else
    return border_index(i, length);
#endif
}

// Sample i, for any i, of n samples `inner` apart; `count` of WIDTH columns exist.
static inline V extended(__global const S *in, int i, int n, size_t inner, int count) {
#if defined(ANTISYMMETRIC)  // -b -a | a b c d | -d -c: border.cl's reflect, every other repetition negative
    int repetition = i < 0 ? (i + 1) / n - 1 : i / n;
    V v = load_some(in + border_index(i, n) * inner, count);
    return repetition & 1 ? -v : v;
#elif defined(ANTIREFLECT)  // odd about both end samples: each period of 2(n − 1) adds twice their difference
    if (i >= 0 && i < n) return load_some(in + i * inner, count);
    const V a = load_some(in, count), d = load_some(in + (n - 1) * inner, count);
    const int p = 2 * (n - 1), q = abs(i) / p, k = abs(i) - q * p;
    V v = k < n ? load_some(in + k * inner, count) : 2 * d - load_some(in + (p - k) * inner, count);
    if (q) v += (2 * q) * (d - a);
    return i < 0 ? 2 * a - v : v;
#elif defined(SMOOTH)
    if (i >= 0 && i < n) return load_some(in + i * inner, count);
    int end = i < 0 ? 0 : n - 1, next = n == 1 ? 0 : (i < 0 ? 1 : n - 2);
    V v = load_some(in + end * inner, count);
    return v + (int)abs(i - end) * (v - load_some(in + next * inner, count));
#else
    i = sample_index(i, n);
    return i < 0 ? (V)0 : load_some(in + i * inner, count);
#endif
}
