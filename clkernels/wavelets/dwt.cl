// One axis of a discrete wavelet transform and of its inverse, by lifting or by filter bank, over tiles.
//
//   pair k = samples 2k (even) and 2k + 1 (odd);  low[i] and high[i] belong to pair i + first
//   lifting       STEPS times what dwt_steps.cl says; then low = even · LOW_SCALE, high = odd · HIGH_SCALE, but for whole
//                 numbers. The inverse runs the steps backwards.
//   filter bank   (low, high)[k] = Σ_u M[u] · (even, odd)[k + u + first],  2 × 2 matrices M, filters' taps two by two;
//                 the inverse the same with (low, high) and (even, odd) exchanged
//
// A tile is PAIRS pairs with LEFT and RIGHT pairs of halo, even and odd samples in arrays of their own, so that
// neighbours stay neighbours. All steps run inside it: beyond the ends stands the signal's extension, and the halo
// is as wide as all steps together reach, so no step needs a special case. Only -D HELD, VC-2's edges (SMPTE ST 2042-1,
// 15.4.4), repeats the last even sample and the last odd one anew for each step.
// A tile belongs to a team. -D LOCAL: the work-items of a group that share a column, in local memory. Otherwise
// one work-item, in private memory: on a CPU such a tile stays in the first-level cache and needs no barriers.
//
// A stack of planes is (outer, n, inner): the axis has n samples, `inner` of them apart. -D ROWS for inner = 1.
// -D INVERSE builds synthesise, otherwise analyse.  -D S=float|double|int   a sample
// -D ACCURACY=n: integers are shifted n bits up before all steps, and down again after those of the inverse, rounding.
// Global size, columns: (inner / WIDTH, teams along the axis, outer); rows: teams, line by line, in one dimension.
// Local size with LOCAL: (columns, items), for rows (items); otherwise any.
// tile: 2 · length · columns samples; with filters RIGHT is the most there can be, and `pairs` says how long a tile is.
// After the wavelet's constants, which gpuops/wavelets/lifting.py writes, border.cl, dwt_extension.cl and dwt_steps.cl.

#define WHOLE_LANES(p) (((p) + LANES - 1) / LANES * LANES)
#define LENGTH WHOLE_LANES(LEFT + PAIRS + RIGHT)

#ifdef LOCAL
#define MEMORY __local
#define TILE_ARGUMENT , __local V *tile
#define TILE_ARRAYS                                                                                                    \
    __local V *even = tile + team.column;                                                                              \
    __local V *odd = even + team.length * team.columns;
#define FENCE() barrier(CLK_LOCAL_MEM_FENCE)
#else
#define MEMORY
#define TILE_ARGUMENT
#define TILE_ARRAYS V even[LENGTH + 2 * (LANES - 1)], odd[LENGTH + 2 * (LANES - 1)];
#define FENCE()
#endif

// For rows the compiler knows that neighbours are next to each other.
#ifdef ROWS
#define STRIDE(inner) 1
#else
#define STRIDE(inner) inner
#endif

typedef struct {
    int start;               // its first pair
    size_t line, lane;       // which of `outer`, and where in `inner`
    int count;               // how many of WIDTH lanes exist
    int length;              // of the tile, LENGTH at most
    int item, items;         // this work-item's number in the team, and the team's size
    int column, columns;     // its tile among those of the group; tile position p is at p · columns
} Team;

static inline Team find_team(int pairs, int right, int outer, int inner) {
    Team team;
    team.length = WHOLE_LANES(LEFT + PAIRS + right);
#ifdef ROWS
    const size_t tiles = (pairs + PAIRS - 1) / PAIRS;
#ifdef LOCAL
    const size_t number = get_group_id(0);
#else
    const size_t number = get_global_id(0);
#endif
    team.start = (int)(number % tiles) * PAIRS;
    team.line = number / tiles;
    team.lane = 0;
    team.count = 1;
#else
#ifdef LOCAL
    team.start = (int)get_group_id(1) * PAIRS;
#else
    team.start = (int)get_global_id(1) * PAIRS;
#endif
    team.line = get_global_id(2);
    team.lane = get_global_id(0) * WIDTH;
    team.count = inner - (int)team.lane;
#endif
#ifndef LOCAL
    team.item = team.column = 0;
    team.items = team.columns = 1;
#elif defined(ROWS)
    team.item = get_local_id(0);
    team.items = get_local_size(0);
    team.column = 0;
    team.columns = 1;
#else
    team.item = get_local_id(1);
    team.items = get_local_size(1);
    team.column = get_local_id(0);
    team.columns = get_local_size(0);
#endif
    // Who has nothing to do starts behind the tile's end: he passes by all loops and reaches all barriers.
    if (team.start >= pairs || team.line >= (size_t)outer || team.count <= 0) team.item = team.length;
    return team;
}

// Tile positions p … p + LANES − 1 of a half.
static inline W get(MEMORY const V *half_tile, int p, Team team) {
#if LANES > 1
    return JOIN(vload, LANES)(0, half_tile + p);
#else
    return half_tile[p * team.columns];
#endif
}

static inline void put(W v, MEMORY V *half_tile, int p, Team team) {
#if LANES > 1
    JOIN(vstore, LANES)(v, 0, half_tile + p);
#else
    half_tile[p * team.columns] = v;
#endif
}

#ifdef ACCURACY
#define UP(v) ((v) << ACCURACY)
#define DOWN(v) (((v) + (1 << (ACCURACY - 1))) >> ACCURACY)
#else
#define UP(v) (v)
#define DOWN(v) (v)
#endif

#ifdef HELD
// Repeats the first and the last of `count` samples, the first of which is at tile position p, as far as the tile goes.
static inline void hold(MEMORY V *half_tile, int p, int count, Team team) {
    const int last = p + count - 1;
    for (int q = team.item; q < min(p, team.length); q += team.items)
        half_tile[q * team.columns] = count > 0 ? half_tile[p * team.columns] : (V)0;
    for (int q = max(last + 1, 0) + team.item; q < team.length; q += team.items)
        half_tile[q * team.columns] = count > 0 ? half_tile[last * team.columns] : (V)0;
    FENCE();
}
#endif

#ifdef STEPS
// The signal of n samples begins at tile position p.
static inline void lift(MEMORY V *even, MEMORY V *odd, int p_first, int n, Team team) {
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        MEMORY V *target = STEP_ODD[s] ? odd : even;
        MEMORY V *other = STEP_ODD[s] ? even : odd;
#ifdef HELD
        hold(other, p_first, (n + STEP_ODD[s]) / 2, team);
#endif
        const int to = LEFT + PAIRS + STEP_AFTER[s];
        for (int p = LEFT - STEP_BEFORE[s] + team.item * LANES; p < to; p += team.items * LANES) {
            W others[TAPS];
#pragma unroll
            for (int j = 0; j < TAPS; j++) others[j] = IS_TAP(s, j) ? get(other, p + FIRST[s] + j, team) : (W)0;
            put(lifted(s, get(target, p, team), others), target, p, team);
        }
        FENCE();
    }
}
#define FILTER_ARGUMENTS
#define REACH RIGHT
#else
// Tile position p of both results. Sums of eight pairs, then their sum: of a hundred taps, the error stays that of 15.
static inline void filter(__constant const JOIN(S, 4) *matrices, int pairs, MEMORY V *even, MEMORY V *odd, int p, W *a,
                          W *b, Team team) {
    W first = 0, second = 0;
    for (int from = 0; from < pairs; from += 8) {
        W some_first = 0, some_second = 0;
        for (int u = from; u < min(from + 8, pairs); u++) {
            const W x = get(even, p + u, team), y = get(odd, p + u, team);
            const JOIN(S, 4) m = matrices[u];
            some_first += m.s0 * x;
            some_first += m.s1 * y;
            some_second += m.s2 * x;
            some_second += m.s3 * y;
        }
        first += some_first;
        second += some_second;
    }
    *a = first;
    *b = second;
}
#define FILTER_ARGUMENTS , __constant const JOIN(S, 4) *matrices, int pairs
#define REACH pairs - 1
#endif

#ifndef INVERSE
// Coefficients i … i + LANES − 1 of a band, as far as they exist.
static inline void store_band(W v, __global S *band, int i, int length, size_t step, Team team) {
#if LANES > 1
    if (i + LANES <= length) {
        JOIN(vstore, LANES)(v, 0, band + i);
    } else {
        S s[LANES];
        JOIN(vstore, LANES)(v, 0, s);
        for (int k = 0; i + k < length; k++) band[i + k] = s[k];
    }
#else
    if (i < length) store_some(v, band + i * step, team.count);
#endif
}

__kernel ALREADY_WIDE void analyse(__global const S *in, __global S *low, __global S *high, int outer, int n,
                                   int inner, int lows, int highs, int first FILTER_ARGUMENTS TILE_ARGUMENT) {
    const Team team = find_team(lows, REACH, outer, inner);
    TILE_ARRAYS
    const size_t step = STRIDE(inner);
    in += team.line * n * step + team.lane;
    const int from = team.start + first - LEFT;  // pair at tile position 0
    if (from >= 0 && 2 * (from + team.length) <= n) {
        for (int p = team.item * LANES; p < team.length; p += team.items * LANES) {
#if LANES > 1
            const W2 both = UP(JOIN(vload, LANES2)(0, in + 2 * (from + p)));
            put(both.even, even, p, team);
            put(both.odd, odd, p, team);
#else
            put(UP(load_some(in + (size_t)(2 * (from + p)) * step, team.count)), even, p, team);
            put(UP(load_some(in + (size_t)(2 * (from + p) + 1) * step, team.count)), odd, p, team);
#endif
        }
    } else {
        for (int p = team.item; p < team.length; p += team.items) {
            even[p * team.columns] = UP(extended(in, 2 * (from + p), n, step, team.count));
            odd[p * team.columns] = UP(extended(in, 2 * (from + p) + 1, n, step, team.count));
        }
    }
    FENCE();
#ifdef STEPS
    lift(even, odd, -from, n, team);
#endif
    low += (team.line * lows + team.start) * step + team.lane;
    high += (team.line * highs + team.start) * step + team.lane;
    const int lows_here = min(PAIRS, lows - team.start), highs_here = min(PAIRS, highs - team.start);
    for (int i = team.item * LANES; i < lows_here; i += team.items * LANES) {
#ifdef STEPS
        const W l = get(even, i + LEFT, team) * LOW_SCALE, h = get(odd, i + LEFT, team) * HIGH_SCALE;
#else
        W l, h;
        filter(matrices, pairs, even, odd, i, &l, &h, team);
#endif
        store_band(l, low, i, lows_here, step, team);
        store_band(h, high, i, highs_here, step, team);
    }
}

#else
// Coefficient i of one band, beyond its ends, too.
static inline V coefficient(__global const S *band, int i, int odd, int length, int n, size_t step, int count) {
    i = coefficient_index(i, odd, length, n);
    return i < 0 ? (V)0 : load_some(band + i * step, count);
}

// Coefficients i … i + LANES − 1, which exist.
static inline W load_band(__global const S *band, int i, size_t step, Team team) {
#if LANES > 1
    return JOIN(vload, LANES)(0, band + i);
#else
    return load_some(band + i * step, team.count);
#endif
}

// Pairs i … i + LANES − 1 of a signal, as far as its samples exist.
static inline void store_pairs(W x, W y, __global S *out, int i, int samples, size_t step, Team team) {
#if LANES > 1
    W2 both;
    both.even = x;
    both.odd = y;
    if (2 * (i + LANES) <= samples) {
        JOIN(vstore, LANES2)(both, 0, out + 2 * i);
    } else {
        S s[LANES2];
        JOIN(vstore, LANES2)(both, 0, s);
        for (int k = 0; 2 * i + k < samples; k++) out[2 * i + k] = s[k];
    }
#else
    store_some(x, out + 2 * i * step, team.count);
    if (2 * i + 1 < samples) store_some(y, out + (2 * i + 1) * step, team.count);
#endif
}

__kernel ALREADY_WIDE void synthesise(__global const S *low, __global const S *high, __global S *out, int outer, int n,
                                      int inner, int lows, int highs, int first FILTER_ARGUMENTS TILE_ARGUMENT) {
    const Team team = find_team((n + 1) / 2, REACH, outer, inner);
    TILE_ARRAYS
    const size_t step = STRIDE(inner);
    low += team.line * lows * step + team.lane;
    high += team.line * highs * step + team.lane;
    const int from = team.start - first - LEFT;  // coefficient at tile position 0
    if (from >= 0 && from + team.length <= highs) {
        for (int p = team.item * LANES; p < team.length; p += team.items * LANES) {
            put(load_band(low, from + p, step, team) * LOW_SCALE, even, p, team);
            put(load_band(high, from + p, step, team) * HIGH_SCALE, odd, p, team);
        }
    } else {
        for (int p = team.item; p < team.length; p += team.items) {
            even[p * team.columns] = coefficient(low, from + p, 0, lows, n, step, team.count) * LOW_SCALE;
            odd[p * team.columns] = coefficient(high, from + p, 1, highs, n, step, team.count) * HIGH_SCALE;
        }
    }
    FENCE();
#ifdef STEPS
    lift(even, odd, -from, n, team);
#endif
    out += (team.line * n + 2 * team.start) * step + team.lane;
    const int samples = min(2 * PAIRS, n - 2 * team.start);
    for (int i = team.item * LANES; 2 * i < samples; i += team.items * LANES) {
#ifdef STEPS
        const W x = DOWN(get(even, i + LEFT, team)), y = DOWN(get(odd, i + LEFT, team));
#else
        W x, y;
        filter(matrices, pairs, even, odd, i, &x, &y, team);
#endif
        store_pairs(x, y, out, i, samples, step, team);
    }
}
#endif
