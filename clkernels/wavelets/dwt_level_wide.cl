// One level as dwt_level.cl has it, for CPUs: a work-item takes PAIRS pairs of columns down a band of rows, by vectors.
//
// A row's even and odd samples are lifted along x where they come to lie: in a window of the last KEPT pairs of rows, in
// which the steps along y then run. It stays in the second-level cache.
//
// After border.cl, dwt_layout.cl, dwt_beyond.cl and the wavelet's steps as a macro: gpuops/wavelets/lifting.py.
// Global: (tiles, bands, planes), any group size.

#define LANES 16
#define V JOIN(S, 16)
#define VLOAD JOIN(vload, 16)
#define VSTORE JOIN(vstore, 16)
#define OWN (2 * LANES)  // one's own first pair among those that a row is lifted with, so that vectors are aligned
#define AROUND (OWN + PAIRS + 2 * LANES)
#define ALIGNED __attribute__((aligned(64)))
#define ALREADY_WIDE __attribute__((vec_type_hint(V)))

// The steps along x; what a vector has too much nobody reads.
#define ALONG_X(target, other, first_tap, taps, before, after, again, ...)                                             \
    {                                                                                                                  \
        const S weights[] = {__VA_ARGS__};                                                                             \
        for (int k = before ? LANES : OWN; k < OWN + pairs + after; k += LANES) {                                      \
            V sum = VLOAD(0, target + k);                                                                              \
            UNROLLED for (int j = 0; j < taps; j++) sum = fma((V)weights[j], VLOAD(0, other + k + first_tap + j), sum); \
            VSTORE(sum, 0, target + k);                                                                                \
        }                                                                                                              \
    }

// Of KEPT pairs of rows the last is the newest; RIGHT before it is the one that the steps along y finish.
#define NEWEST (KEPT - 1)
#define FINISHED (NEWEST - RIGHT)

#define ALONG_Y(target, other, first_tap, taps, before, after, again, ...)                                             \
    {                                                                                                                  \
        const S weights[] = {__VA_ARGS__};                                                                             \
        const int k = FINISHED + after;                                                                                \
        UNROLLED for (int j = 0; j < taps; j++)                                                                        \
            target[k] = fma((V)weights[j], other[k + first_tap + j], target[k]);                                       \
        if (again) VSTORE(target[k], 0, target##_rows[k] + c);                                                         \
    }

typedef struct {
    V even, odd;
} Finished;

// Takes the steps along y in columns c … c + LANES − 1, and gives back the pair that they finish.
static inline Finished finish(S *const *e_rows, S *const *o_rows, int c) {
    V e[KEPT], o[KEPT];
    UNROLLED
    for (int j = 0; j < KEPT; j++) e[j] = VLOAD(0, e_rows[j] + c), o[j] = VLOAD(0, o_rows[j] + c);
    STEPS(ALONG_Y)
    const Finished pair = {e[FINISHED], o[FINISHED]};
    return pair;
}

// `count` of LANES values that exist.
static inline void store_some(V v, __global S *to, int count) {
    if (count >= LANES) {
        VSTORE(v, 0, to);
    } else if (count > 0) {
        S s[LANES];
        VSTORE(v, 0, s);
        for (int i = 0; i < count; i++) to[i] = s[i];
    }
}

static inline void store_pairs(V even, V odd, __global S *to, int count) {
    V left, right;
    left.even = even.lo, left.odd = odd.lo, right.even = even.hi, right.odd = odd.hi;
    store_some(left, to, count);
    store_some(right, to + LANES, count - LANES);
}

#define BAND_ROW(band, height, width, k) ((band) + ((size_t)plane * (height) + (k)) * (width))

// A row of `width` samples, 0 where it is one of zeros; from `last` on nobody asks.
typedef struct {
#ifdef INVERSE
    __global const S *low, *high;
#else
    __global const S *samples;
#endif
    int width, last;
} Source;

static inline S sample(Source row, int x) {
#ifdef INVERSE
    return x & 1 ? row.high[x / 2] : row.low[x / 2];
#else
    return row.samples[x];
#endif
}

static inline S extended(Source row, int x) {
    if (x >= row.last || row.width == 0) return 0;
    const Extension e = extension(x, row.width);
    S sum = 0;
    for (int i = 0; i < TERMS; i++)
        if (e.weight[i] != 0) sum += e.weight[i] * sample(row, e.at[i]);
    return sum;
}

// Even samples times `even`, and odd ones times `odd`, of `pairs` pairs from `first` on and those around them.
// `add`: to what is there.
static inline void take_row(Source row, int first, int pairs, S even, S odd, int add, S *e, S *o) {
    for (int k = BEFORE ? LANES : OWN; k < OWN + pairs + AFTER / 2; k += LANES) {
        const int x = 2 * (first + k);
        V evens, odds;
        if (x >= 0 && x + 2 * LANES <= row.width) {
#ifdef INVERSE
            evens = VLOAD(0, row.low + x / 2), odds = VLOAD(0, row.high + x / 2);
#else
            const V left = VLOAD(0, row.samples + x), right = VLOAD(1, row.samples + x);
            evens = (V)(left.even, right.even), odds = (V)(left.odd, right.odd);
#endif
        } else {
            S beside[2][LANES];
            for (int i = 0; i < 2 * LANES; i++) beside[i & 1][i / 2] = extended(row, x + i);
            evens = VLOAD(0, beside[0]), odds = VLOAD(0, beside[1]);
        }
        evens *= even, odds *= odd;
        VSTORE(add ? VLOAD(0, e + k) + evens : evens, 0, e + k);
        VSTORE(add ? VLOAD(0, o + k) + odds : odds, 0, o + k);
    }
}

#ifdef INVERSE
#define IMAGE __global S *restrict out, uint pitch
#define BAND __global const S *restrict
#else
#define IMAGE __global const S *restrict in, uint pitch
#define BAND __global S *restrict
#endif

__kernel ALREADY_WIDE void level_wide(IMAGE, BAND ll, BAND lh, BAND hl, BAND hh, int4 bands, int2 image,
                                      ulong plane_size, int first, int band) {
    const int pair = (int)get_global_id(0) * PAIRS, begin = (int)get_global_id(1) * band;
    const size_t plane = get_global_id(2);
    const int height = READ_HEIGHT(bands, image), width = READ_WIDTH(bands, image);
    const int pairs_x = PAIRS_X(bands, image), end = min(begin + band, PAIRS_Y(bands, image));
    if (pair >= pairs_x || begin >= end) return;
    const int last = 2 * (first + pairs_x) + AFTER, pairs = min(PAIRS, pairs_x - pair);
    ALIGNED S window[2 * KEPT][2 * AROUND];
    for (int k = begin - LEFT - RIGHT, round = 0; k < end; k++, round++) {
        S *e_rows[KEPT], *o_rows[KEPT];  // rings
        UNROLLED
        for (int j = 0; j < KEPT; j++) {
            e_rows[j] = window[2 * ((round + j) % KEPT)];
            o_rows[j] = window[2 * ((round + j) % KEPT) + 1];
        }
        UNROLLED
        for (int h = 0; h < 2; h++) {
            S *e = h ? o_rows[NEWEST] : e_rows[NEWEST], *o = e + AROUND;
            const Extension rows = extension(2 * (k + first + RIGHT) + h, height);
            for (int i = 0; i < TERMS; i++) {
                if (i && rows.weight[i] == 0) continue;
                const size_t y = rows.at[i];
#ifdef INVERSE
                const Source row = {BAND_ROW(y & 1 ? lh : ll, y & 1 ? bands.y : bands.x, bands.z, y / 2),
                                    BAND_ROW(y & 1 ? hh : hl, y & 1 ? bands.y : bands.x, bands.w, y / 2),
                                    rows.weight[i] == 0 ? 0 : width, last};
                const S even = h ? -1 : 1 / K2, odd = h ? K2 : -1;
#else
                const Source row = {in + plane * plane_size + y * pitch, rows.weight[i] == 0 ? 0 : width, last};
                const S even = 1, odd = 1;
#endif
                take_row(row, pair + first - OWN, pairs, rows.weight[i] * even, rows.weight[i] * odd, i, e, o);
            }
            STEPS(ALONG_X)
        }
        if (k < begin) {
            for (int c = OWN; c < OWN + pairs; c += LANES) finish(e_rows, o_rows, c), finish(e_rows, o_rows, AROUND + c);
            continue;
        }
#ifdef INVERSE
        __global S *to = out + plane * plane_size + (size_t)(2 * k) * pitch + 2 * pair;
        for (int c = 0; c < pairs; c += LANES) {
            const Finished even = finish(e_rows, o_rows, OWN + c), odd = finish(e_rows, o_rows, AROUND + OWN + c);
            const int count = image.y - 2 * (pair + c);
            store_pairs(even.even, odd.even, to + 2 * c, count);
            if (2 * k + 1 < image.x) store_pairs(even.odd, odd.odd, to + pitch + 2 * c, count);
        }
#else
        for (int c = 0; c < pairs; c += LANES) {
            const Finished low = finish(e_rows, o_rows, OWN + c), high = finish(e_rows, o_rows, AROUND + OWN + c);
            const int x = pair + c, lows = bands.z - x, highs = bands.w - x;
            store_some(low.even * K2, BAND_ROW(ll, bands.x, bands.z, k) + x, lows);
            store_some(-high.even, BAND_ROW(hl, bands.x, bands.w, k) + x, highs);
            if (k < bands.y) {
                store_some(-low.odd, BAND_ROW(lh, bands.y, bands.z, k) + x, lows);
                store_some(high.odd * (1 / K2), BAND_ROW(hh, bands.y, bands.w, k) + x, highs);
            }
        }
#endif
    }
}
