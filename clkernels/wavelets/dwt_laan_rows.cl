// Rows: a group brings one to local memory, even and odd samples apart, lifts it there, and writes both
// halves. Of a row that is too long it takes a segment of `run` pairs, with the LEFT and RIGHT pairs beside
// it that the steps read. Of short rows it takes several.
//
// After dwt_laan.cl. tile: for each row twice `pitch` samples.
// Local: (items, rows of a group). Global: (groups · items, rows of a group).

#define LOADS 8  // that a work-item has under way at the same time

static inline V get(__local const S *p) {
#if WIDTH > 1
    return JOIN(vload, WIDTH)(0, p);
#else
    return *p;
#endif
}

static inline void put(V v, __local S *p) {
#if WIDTH > 1
    JOIN(vstore, WIDTH)(v, 0, p);
#else
    *p = v;
#endif
}

#if WIDTH == 1
// (whether it is odd, pair) of value i of so many pairs: samples lie pair by pair, coefficients half by half.
static inline int2 of_samples(int i, int pairs) {
    return (int2)(i & 1, i >> 1);
}

static inline int2 of_coefficients(int i, int pairs) {
    return i < pairs ? (int2)(0, i) : (int2)(1, i - pairs);
}

#ifdef INVERSE
#define READ_AT of_coefficients
#define WRITTEN_AT of_samples
#else
#define READ_AT of_samples
#define WRITTEN_AT of_coefficients
#endif
#endif

__kernel ALREADY_WIDE void rows(BUFFERS, SIZES, int planes, int across, int n, int lows, int highs, int run, int pitch,
                                __local S *tile) {
    const int segments = (lows + run - 1) / run, number = get_group_id(0), start = number % segments * run;
    const int pairs = min(run, lows - start), length = LEFT + pairs + RIGHT, from = start - LEFT;
    const int wanted = number / segments * (int)get_local_size(1) + (int)get_local_id(1);
    const int line = min(wanted, planes * across - 1);
    // Who has no row passes by all loops and reaches all barriers.
    const int item = line == wanted ? (int)get_local_id(0) : 2 * pitch, items = get_local_size(0);
    const size_t plane = line / across, y = line % across;
    image += (plane * image_size.x + y) * image_size.y;
    low += (plane * low_size.x + y) * low_size.y;
    high += (plane * high_size.x + y) * high_size.y + high_from;
    __local S *even = tile + get_local_id(1) * 2 * pitch, *odd = even + pitch;

#if WIDTH > 1
    for (int p = item * WIDTH; p < length; p += items * WIDTH) {
        const int k = from + p;
        V e, o;
#ifdef INVERSE
        if (k >= 0 && k + WIDTH <= highs) {
            e = load_some(low + k, WIDTH), o = load_some(high + k, WIDTH);
#else
        if (k >= 0 && 2 * (k + WIDTH) <= n) {
            const V left = load_some(image + 2 * k, WIDTH), right = load_some(image + 2 * k + WIDTH, WIDTH);
            e = (V)(left.even, right.even), o = (V)(left.odd, right.odd);
#endif
        } else {
            S beside[2][WIDTH];
            for (int i = 0; i < 2 * WIDTH; i++) {
                const int h = i / WIDTH, at = INDEX(k + i % WIDTH, h);
                beside[h][i % WIDTH] = at < 0 ? (S)0 : SOURCE(h)[at];
            }
            e = JOIN(vload, WIDTH)(0, beside[0]), o = JOIN(vload, WIDTH)(0, beside[1]);
        }
        put(SCALED(e, 0), even + p);
        put(SCALED(o, 1), odd + p);
    }
#else
    for (int i = item; i < 2 * length; i += LOADS * items) {
        int2 to[LOADS];
        int at[LOADS];
        S v[LOADS];
#pragma unroll
        for (int m = 0; m < LOADS; m++) {
            to[m] = READ_AT(min(i + m * items, 2 * length - 1), length);
            at[m] = INDEX(from + to[m].y, to[m].x);
        }
#pragma unroll
        for (int m = 0; m < LOADS; m++) v[m] = at[m] < 0 ? (S)0 : SOURCE(to[m].x)[at[m]];
#pragma unroll
        for (int m = 0; m < LOADS; m++)
            if (i + m * items < 2 * length) (to[m].x ? odd : even)[to[m].y] = SCALED(v[m], to[m].x);
    }
#endif
    FENCE();

#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        __local S *target = STEP_ODD[s] ? odd : even, *other = STEP_ODD[s] ? even : odd;
        const int to = LEFT + pairs + STEP_AFTER[s];
        for (int p = LEFT - STEP_BEFORE[s] + item * WIDTH; p < to; p += items * WIDTH) {
            V others[TAPS];
#pragma unroll
            for (int j = 0; j < TAPS; j++) others[j] = IS_TAP(s, j) ? get(other + p + FIRST[s] + j) : (V)0;
            put(lifted(s, get(target + p), others), target + p);
        }
        FENCE();
    }

#if WIDTH > 1
    for (int p = item * WIDTH; p < pairs; p += items * WIDTH) {
        const V e = RESULT(get(even + LEFT + p), 0), o = RESULT(get(odd + LEFT + p), 1);
        const int k = start + p;
#ifdef INVERSE
        V left, right;
        left.even = e.lo, left.odd = o.lo, right.even = e.hi, right.odd = o.hi;
        const int count = min(2 * (pairs - p), n - 2 * k);
        store_some(left, image + 2 * k, count);
        store_some(right, image + 2 * k + WIDTH, count - WIDTH);
#else
        store_some(e, low + k, pairs - p);
        store_some(o, high + k, min(pairs - p, highs - k));
#endif
    }
#else
    for (int i = item; i < 2 * pairs; i += items) {
        const int2 of = WRITTEN_AT(i, pairs);
        const S v = RESULT((of.x ? odd : even)[LEFT + of.y], of.x);
#ifdef INVERSE
        if (2 * start + i < n) image[2 * start + i] = v;
#else
        if (start + of.y < (of.x ? highs : lows)) (of.x ? high : low)[start + of.y] = v;
#endif
    }
#endif
}
