// One level as dwt_level.cl has it, for small ones, which take as long as their launches and one load after the other:
// one launch, in which each sample that a group needs is on its way at the same time.
//
// A work-group makes SIDE × SIDE pairs. It brings their samples to local memory, and those around them that the steps read,
// beyond edges, too. Then work-items take RUN pairs and those around them into registers, of a row, and after that of a
// column, and lift them there. Steps and sums have the order of dwt_level.cl: bit by bit the result is the same.
//
// After border.cl, dwt_layout.cl, dwt_beyond.cl and the wavelet's steps as a macro: gpuops/wavelets/lifting.py.
// -D SIDE=n    pairs of a tile along each axis
// -D RUN=n     divides SIDE
// -D ITEMS=n   of a group, a multiple of SIDE / RUN
// Local: (ITEMS, 1). Global: (tiles · ITEMS, planes).

#define REACH (LEFT + SIDE + RIGHT)  // pairs that are read along an axis
#define LINES (2 * REACH)
#define PITCH (LINES + 1)  // odd: work-items at one place in neighbouring rows use different banks
#define RUNS (SIDE / RUN)

// Work-items that load a row: neighbours have neighbouring samples; and rows that the group loads.
#define ACROSS (ITEMS < LINES ? ITEMS : LINES)
#define DOWN (ITEMS / ACROSS)
#define MOST 24  // loads that a work-item has under way: rows are shared out evenly
#define AT_ONCE SHARE(SHARE(LINES, DOWN), SHARE(SHARE(LINES, DOWN), MOST))
#define SHARE(n, among) (((n) + (among) - 1) / (among))

#ifdef INVERSE
#define IMAGE __global S *restrict out
#define BAND __global const S *restrict
#define READ BAND ll, BAND lh, BAND hl, BAND hh
#define READ_FROM ll, lh, hl, hh
static inline S sample(READ, int y, int x, int4 bands, int2 image) {
    BAND band = y & 1 ? (x & 1 ? hh : lh) : x & 1 ? hl : ll;
    return band[(uint)(y / 2) * (x & 1 ? bands.w : bands.z) + x / 2];
}
#else
#define IMAGE __global const S *restrict in
#define BAND __global S *restrict
#define READ IMAGE
#define READ_FROM in
static inline S sample(READ, int y, int x, int4 bands, int2 image) {
    return in[(uint)y * image.y + x];
}
#endif

// As in dwt_margins.cl; but the first one is loaded though its weight be 0, so that no load waits for a branch.
static inline S extended(READ, Extension v, Extension h, int4 bands, int2 image) {
    const S nearest = sample(READ_FROM, v.at[0], h.at[0], bands, image), weight = v.weight[0] * h.weight[0];
    S sum = weight == 0 ? 0 : weight * nearest;
    UNROLLED
    for (int i = 1; i < TERMS * TERMS; i++) {
        const int j = i / TERMS, k = i % TERMS;
        if (v.weight[j] != 0 && h.weight[k] != 0)
            sum += v.weight[j] * h.weight[k] * sample(READ_FROM, v.at[j], h.at[k], bands, image);
    }
    return sum;
}

#define LIFT(target, other, first_tap, taps, before, after, again, ...)                                                \
    {                                                                                                                  \
        const S weights[] = {__VA_ARGS__};                                                                             \
        UNROLLED for (int k = LEFT - before; k < LEFT + RUN + after; k++)                                              \
            UNROLLED for (int j = 0; j < taps; j++) target[k] = fma(weights[j], other[k + first_tap + j], target[k]);  \
    }

// Takes pairs from local memory, where they are `step` apart, and lifts them: RUN of them, behind LEFT others, come right.
static inline void lift(__local const S *even, __local const S *odd, int step, S *e, S *o) {
    UNROLLED
    for (int k = 0; k < LEFT + RUN + RIGHT; k++) e[k] = even[k * step], o[k] = odd[k * step];
    STEPS(LIFT)
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void level_tile(IMAGE, BAND ll, BAND lh, BAND hl, BAND hh,
                                                                            int4 bands, int2 image, int first,
                                                                            int tiles) {
    // Of a row first the even samples, then the odd ones.
    __local S tile[LINES][PITCH];
    __local Extension rows[LINES];
    const int item = get_local_id(0), number = get_group_id(0);
    const size_t plane = get_global_id(1);
    const int pair_x = number % tiles * SIDE, pair_y = number / tiles * SIDE;
    const int x = 2 * (pair_x + first - LEFT), y = 2 * (pair_y + first - LEFT);
    ll += plane * bands.x * bands.z, lh += plane * bands.y * bands.z;
    hl += plane * bands.x * bands.w, hh += plane * bands.y * bands.w;
#ifdef INVERSE
    out += plane * image.x * image.y;
#else
    in += plane * image.x * image.y;
#endif

    for (int row = item; row < LINES; row += ITEMS) rows[row] = extension(y + row, READ_HEIGHT(bands, image));
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item % ACROSS; i < LINES && item < ACROSS * DOWN; i += ACROSS) {
#ifdef INVERSE
        const int place = i, column = 2 * (i % REACH) + i / REACH;  // as they lie in the bands
#else
        const int place = i % 2 * REACH + i / 2, column = i;
#endif
        const Extension h = extension(x + column, READ_WIDTH(bands, image));
        for (int from = item / ACROSS; from < LINES; from += AT_ONCE * DOWN) {
            S v[AT_ONCE];
            UNROLLED
            for (int n = 0; n < AT_ONCE; n++)
                v[n] = extended(READ_FROM, rows[min(from + n * DOWN, LINES - 1)], h, bands, image);
            UNROLLED
            for (int n = 0; n < AT_ONCE; n++) {
                const int row = from + n * DOWN;
#ifdef INVERSE
                v[n] *= row & 1 ? (column & 1 ? K2 : -1) : column & 1 ? -1 : 1 / K2;
#endif
                if (row < LINES) tile[row][place] = v[n];
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    S e[LEFT + RUN + RIGHT], o[LEFT + RUN + RIGHT];
    for (int from = 0; from < LINES; from += ITEMS / RUNS) {  // whole rows, which are overwritten
        const int row = from + item / RUNS;
        __local S *even = tile[min(row, LINES - 1)] + item % RUNS * RUN, *odd = even + REACH;
        lift(even, odd, 1, e, o);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (row < LINES) {
            UNROLLED
            for (int k = LEFT; k < LEFT + RUN; k++) even[k] = e[k], odd[k] = o[k];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < 2 * SIDE * RUNS; i += ITEMS) {
        const int column = i % (2 * SIDE), run = i / (2 * SIDE) * RUN;
#ifdef INVERSE
        const int high = column % 2, pair = column / 2, to_x = 2 * pair_x + column, width = image.y;
#else
        const int high = column / SIDE, pair = column % SIDE, to_x = pair_x + pair, width = high ? bands.w : bands.z;
#endif
        if (to_x >= width) continue;
        __local const S *even = tile[2 * run] + high * REACH + LEFT + pair;
        lift(even, even + PITCH, 2 * PITCH, e, o);
        UNROLLED
        for (int n = 0; n < RUN; n++) {
            const int k = pair_y + run + n;
#ifdef INVERSE
            __global S *to = out + (size_t)(2 * k) * width + to_x;
            if (2 * k < image.x) to[0] = e[LEFT + n];
            if (2 * k + 1 < image.x) to[width] = o[LEFT + n];
#else
            if (k < bands.x) (high ? hl : ll)[(uint)k * width + to_x] = e[LEFT + n] * (high ? -1 : K2);
            if (k < bands.y) (high ? hh : lh)[(uint)k * width + to_x] = o[LEFT + n] * (high ? 1 / K2 : -1);
#endif
        }
    }
}
