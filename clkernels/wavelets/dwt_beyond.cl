// What stands beyond the ends of an axis, by PyWavelets' modes. After border.cl and dwt_layout.cl.
//
// One of -D PERIODIZATION, ANTISYMMETRIC, ANTIREFLECT, SMOOTH (each with the border it builds on), or none of them.
// -D INVERSE   of coefficients

#define UNROLLED _Pragma("unroll")

// One axis: sample i, for any i, as a sum of samples among 0 … n − 1.
#if defined(ANTIREFLECT) || defined(SMOOTH)
#define TERMS 3
#else
#define TERMS 1
#endif
typedef struct {
    int at[TERMS];
    S weight[TERMS];
} Extension;

static inline Extension extension(int i, int n) {
    Extension e = {{0}, {1}};
#if defined(PERIODIZATION)  // an odd length's last sample twice
    e.at[0] = min(border_index(i, n + (n & 1)), n - 1);
#elif defined(ANTISYMMETRIC)  // -b -a | a b c d | -d -c
    const int repetition = i < 0 ? (i + 1) / n - 1 : i / n;
    e.at[0] = border_index(i, n);
    e.weight[0] = repetition & 1 ? -1 : 1;
#elif defined(ANTIREFLECT)  // odd about both end samples: each period of 2(n − 1) adds twice their difference
    const int p = 2 * (n - 1), q = i < 0 ? (i + 1) / p - 1 : i / p;
    i -= q * p;
    e.at[0] = i < n ? i : p - i, e.at[1] = n - 1;
    e.weight[0] = i < n ? 1 : -1, e.weight[1] = 2 * q + (i < n ? 0 : 2), e.weight[2] = -2 * q;
#elif defined(SMOOTH)  // a straight line through the last two
    const int end = i < 0 ? 0 : n - 1, far = abs(i - end);
    e.at[0] = i >= 0 && i < n ? i : end;
    if (i != e.at[0] && n > 1) {
        e.at[1] = i < 0 ? 1 : n - 2;
        e.weight[0] = 1 + far, e.weight[1] = -far;
    }
#else
    e.at[0] = border_index(i, n);
    if (e.at[0] < 0) e.at[0] = 0, e.weight[0] = 0;
#ifdef INVERSE
    if ((e.at[0] ^ i) & 1) e.weight[0] = 0;  // a lone low coefficient's mirror image is no high one
#endif
#endif
    return e;
}
