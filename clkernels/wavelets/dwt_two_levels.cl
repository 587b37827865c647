// Two levels of the transform of planes in one pass, or of its inverse: the approximation between them is not written.
// 8.5 bytes of traffic a float of the image for all levels, where dwt_level.cl level by level has 10.7.
//
// As there a work-item owns COLUMNS neighbouring columns of the image, and goes down a band of rows two at a time. PAIRS
// neighbouring approximations come of each pair of rows, and every second time a pair of rows of them, for the same steps
// again. Columns of a neighbouring group on which a group's own depend are lifted by both: by GHOSTS work-items more at each
// side. What stands beyond an edge dwt_two_margins.cl put aside: of what is read, and of the approximations.
//
//   fine     the level of the image, coarse: of the approximations. Of each:
//   bands    (lows, highs) along y, then along x
//   first    the pair to read that belongs to the first one to make
//   aside    inside, outside: columns between them are in place; then samples of a row of `columns`, and of `rows`
//   start    the first column that is put aside
//   beyond   rows put aside above the first, and in all
//
// After dwt_layout.cl, the wavelet's steps as a macro (gpuops/wavelets/lifting.py), dwt_lift.cl for 4 and for 2, and
// dwt_rows.cl with WORDS.
// Local: (ITEMS + 2 GHOSTS, 1, 1). Global: (tiles · local, bands, planes).

#define HALF (PAIRS / 2)
#define ALL (ITEMS + 2 * GHOSTS)
#define LINE(own) (BEFORE + ALL * (own) + AFTER)
#define UP(n, multiple) (((n) + (multiple)-1) / (multiple) * (multiple))

#ifdef INVERSE
#define IMAGE __global S *restrict image
#define BAND , __global const S *restrict
#else
#define IMAGE __global const S *restrict image
#define BAND , __global S *restrict
#endif

// What a level reads, as a work-item finds it. What is the same for all items comes first.
typedef struct {
    __global const S *columns, *rows;
    uint columns_pitch, rows_pitch;
    int height, above;         // rows that are in place, and put aside above the first
    int is_aside;              // whether its columns are
    uint in_columns, in_rows;  // where its first one is in a row of `columns`, or would be, and of `rows`
} Samples;

static inline Samples samples(__global const S *columns, __global const S *rows, int4 aside, int2 beyond, int height,
                              int start, int x) {
    const size_t plane = get_global_id(2);
    Samples s;
    s.columns = columns + plane * height * aside.z;
    s.rows = rows + plane * beyond.y * aside.w;
    s.columns_pitch = aside.z, s.rows_pitch = aside.w;
    s.height = height, s.above = beyond.x;
    s.is_aside = x < aside.x || x >= aside.y;
    s.in_columns = PLACE_ASIDE(x < aside.x ? x - start : aside.x - start + x - aside.y, aside.z);
    s.in_rows = PLACE_ASIDE(x - start, aside.w);
    return s;
}

static inline bool is_beyond(const Samples *s, int y) {
    return y < 0 || y >= s->height;
}

// Its samples of row y, which are `there` unless put aside; `second`: of coefficients the high ones.
static inline __global const S *find(const Samples *s, int y, __global const S *there, int second) {
    if (is_beyond(s, y)) {
        const uint row = (y < 0 ? y : y - s->height) + s->above;
        return s->rows + (row * s->rows_pitch + s->in_rows + (second ? SECOND_ASIDE(s->rows_pitch) : 0));
    }
    if (s->is_aside)
        return s->columns + (y * s->columns_pitch + s->in_columns + (second ? SECOND_ASIDE(s->columns_pitch) : 0));
    return there;
}

static inline S4 in_order(Row2 row) {
    return (S4)(row.v[0], row.v[2], row.v[1], row.v[3]);
}

static inline Row2 of_order(S4 v) {
    const Row2 row = {{v.x, v.z, v.y, v.w}};
    return row;
}

#ifdef INVERSE
// Two low and two high coefficients of row y.
static inline Row2 fetch_coarse(const Samples *s, int y, __global const S *low, __global const S *high) {
    const S2 first = *(__global const S2 *)find(s, y, low, 0), second = *(__global const S2 *)find(s, y, high, 1);
    const Row2 row = {{first.x, first.y, second.x, second.y}};
    return row;
}

static inline S4 fetch_fine(const Samples *s, int y, __global const S *there, int second) {
    return load_half(find(s, y, there, second));
}

// Of a row from column x on those samples that the image has.
static inline void store_within(Row4 row, __global S *to, int x, int width) {
    if (x >= 0 && x < width) *(__global S4 *)to = (S4)(row.v[0], row.v[4], row.v[1], row.v[5]);
    if (x >= -PAIRS && x < width - PAIRS) *(__global S4 *)(to + PAIRS) = (S4)(row.v[2], row.v[6], row.v[3], row.v[7]);
}
#else
static inline Raw fetch_image(const Samples *s, int y, __global const S *there) {
    __global const S *from = find(s, y, there, 0);
    const Raw raw = {load_half(from), load_half(from + PAIRS)};
    return raw;
}
#endif

__kernel __attribute__((reqd_work_group_size(ALL, 1, 1))) void two_levels(
    IMAGE BAND lh BAND hl BAND hh BAND ll BAND coarse_lh BAND coarse_hl BAND coarse_hh,
    __global const S *restrict fine_columns, __global const S *restrict fine_rows,
    __global const S *restrict coarse_columns, __global const S *restrict coarse_rows, int2 size, int4 fine, int4 coarse,
    int2 first, int4 fine_aside, int4 coarse_aside, int2 start, int2 fine_beyond, int2 coarse_beyond, int band) {
    __local S lines[2][2][LINE(COLUMNS)] __attribute__((aligned(32)));
    __local S coarse_lines[2][2][LINE(PAIRS)] __attribute__((aligned(32)));
    const int item = get_local_id(0), tile = get_group_id(0);
    // Ghosts come last, so that the group's own read whole stretches of memory.
    const int place = item < ITEMS ? item : item < ITEMS + GHOSTS ? item - ALL + GHOSTS : item - GHOSTS;
    const int unit = tile * ITEMS + place, own = item < ITEMS;
    const int begin = get_group_id(1) * band, end = begin + band;
    __local S *line = &lines[0][0][(place + GHOSTS) * COLUMNS];
    __local S *coarse_line = &coarse_lines[0][0][(place + GHOSTS) * PAIRS];

    // To this plane. Bands of a level are of one width.
    const size_t plane = get_global_id(2);
    const int fine_width = fine.z, coarse_width = coarse.z;
    image += plane * size.x * size.y;
    hl += plane * fine.x * fine_width;
    lh += plane * fine.y * fine_width, hh += plane * fine.y * fine_width;
    ll += plane * coarse.x * coarse_width, coarse_hl += plane * coarse.x * coarse_width;
    coarse_lh += plane * coarse.y * coarse_width, coarse_hh += plane * coarse.y * coarse_width;

    Row4 e[KEPT], o[KEPT];
    Row2 coarse_e[KEPT], coarse_o[KEPT];
    UNROLLED
    for (int k = 0; k < KEPT; k++) {
        UNROLLED
        for (int c = 0; c < COLUMNS; c++) e[k].v[c] = o[k].v[c] = 0;
        UNROLLED
        for (int c = 0; c < PAIRS; c++) coarse_e[k].v[c] = coarse_o[k].v[c] = 0;
    }
    int turn = 0;

#ifndef INVERSE
    // The first approximation of its columns, and the image's column where it is.
    const int low = 2 * (unit * HALF + first.y), low_last = 2 * (first.y + coarse_width + 2 * PAIRS);
    const int x = clamp(2 * (low + first.x), start.x, 2 * (first.x + fine_width + 2 * PAIRS));
    const int makes = own && low >= 0 && low < fine_width;
    const Samples samples_fine = samples(fine_columns, fine_rows, fine_aside, fine_beyond, size.x, start.x, x);
    const Samples samples_coarse = samples(coarse_columns, coarse_rows, coarse_aside, coarse_beyond, fine.x, start.y,
                                           clamp(low, start.y, low_last));

    // Rows `row` and `row + 1` of approximations are the newest of the coarse level's.
    int row = 2 * (begin + first.y - LEFT) - UP(LEFT + RIGHT, 2);
    const int row_begin = max(2 * (begin + first.y), 0), row_end = min(2 * (end + first.y), fine.x);
    const int row_last = 2 * (min(end, coarse.x) - 1 + first.y + RIGHT);
    const int y_first = 2 * (first.x - LEFT), y_last = 2 * (min(fine.x - 1, max(row_last + 1, row_end)) + first.x + RIGHT);
    int y = 2 * (row + first.x + RIGHT);
    Raw even = {0, 0}, odd = {0, 0};
    if (y >= y_first && y <= y_last) {
        even = fetch_image(&samples_fine, y, image + (uint)y * size.y + x);
        odd = fetch_image(&samples_fine, y + 1, image + (uint)(y + 1) * size.y + x);
    }
    while (row <= row_last || row < row_end) {
        // One round, as in dwt_level.cl.
        for (int once = 0; once < 1; once++, row += 2) {
            Row2 found[2];
            UNROLLED
            for (int h = 0; h < 2; h++) {
                const Row4 upper = row_of(even), lower = row_of(odd);
                y += 2;
                if (y >= y_first && y <= y_last) {
                    even = fetch_image(&samples_fine, y, image + (uint)y * size.y + x);
                    odd = fetch_image(&samples_fine, y + 1, image + (uint)(y + 1) * size.y + x);
                }
                const int k = row + h, given = (samples_coarse.is_aside || is_beyond(&samples_coarse, k)) &&
                                               k >= 2 * (first.y - LEFT) && k <= row_last + 1;
                S4 lows = 0;
                if (given) lows = load_half(find(&samples_coarse, k, 0, 0));
                UNROLLED
                for (int i = 1; i < KEPT; i++) e[i - 1] = e[i], o[i - 1] = o[i];
                __local S *here = line + h * 2 * LINE(COLUMNS);
                share(upper, here + BEFORE);
                share(lower, here + LINE(COLUMNS) + BEFORE);
                barrier(CLK_LOCAL_MEM_FENCE);
                e[NEWEST] = lifted4(upper, here);
                o[NEWEST] = lifted4(lower, here + LINE(COLUMNS));
                lift_columns4(e, o);
                const Row4 above = scaled4(e[FINISHED], K2, -1), below = scaled4(o[FINISHED], -1, 1 / K2);
                found[h] = of_order(given ? lows : (S4)(above.v[0], above.v[1], above.v[2], above.v[3]));
                if (makes && k >= row_begin && k < row_end) {
                    const uint to = k * fine_width + low;
                    store_half(above.v + PAIRS, hl + to);
                    if (k < fine.y) {
                        store_half(below.v, lh + to);
                        store_half(below.v + PAIRS, hh + to);
                    }
                }
            }
            UNROLLED
            for (int i = 1; i < KEPT; i++) coarse_e[i - 1] = coarse_e[i], coarse_o[i - 1] = coarse_o[i];
            __local S *here = coarse_line + turn * 2 * LINE(PAIRS);
            turn ^= 1;
            *(__local S4 *)(here + BEFORE) = in_order(found[0]);
            *(__local S4 *)(here + LINE(PAIRS) + BEFORE) = in_order(found[1]);
            barrier(CLK_LOCAL_MEM_FENCE);
            coarse_e[NEWEST] = lifted2(found[0], here);
            coarse_o[NEWEST] = lifted2(found[1], here + LINE(PAIRS));
            lift_columns2(coarse_e, coarse_o);
            const int k = row / 2 - first.y - RIGHT, c = unit * HALF;
            if (own && k >= begin && k < min(end, coarse.x) && c < coarse_width) {
                const Row2 above = scaled2(coarse_e[FINISHED], K2, -1), below = scaled2(coarse_o[FINISHED], -1, 1 / K2);
                const uint to = k * coarse_width + c;
                *(__global S2 *)(ll + to) = (S2)(above.v[0], above.v[1]);
                *(__global S2 *)(coarse_hl + to) = (S2)(above.v[2], above.v[3]);
                if (k < coarse.y) {
                    *(__global S2 *)(coarse_lh + to) = (S2)(below.v[0], below.v[1]);
                    *(__global S2 *)(coarse_hh + to) = (S2)(below.v[2], below.v[3]);
                }
            }
        }
    }
#else
    // The first approximation of its columns: low coefficient of the fine level, sample of the coarse one's image.
    const int low = unit * PAIRS, x = 2 * (low - first.x), pairs_y = PAIRS_Y(fine, size);
    const int from = clamp(low + 2 * first.y, start.y, 2 * (first.y + (fine_width + 1) / 2 + 2 * PAIRS));
    const int detail = clamp(2 * low, start.x, 2 * (first.x + PAIRS_X(fine, size)) / COLUMNS * COLUMNS + 2 * COLUMNS);
    const Samples samples_fine =
        samples(fine_columns, fine_rows, fine_aside, fine_beyond, fine.x + fine.y, start.x, detail);
    const Samples samples_coarse =
        samples(coarse_columns, coarse_rows, coarse_aside, coarse_beyond, coarse.x + coarse.y, start.y, from);

    // Rows `row` and `row + 1` of approximations are those that the coarse level finishes. (The fine one follows even while it
    // gets none yet: barriers must not stand under a condition on PoCL.)
    const int row_first = (2 * begin + first.x - LEFT) & ~1, row_last = min(2 * end, pairs_y) - 1 + first.x + RIGHT;
    const int q_first = first.y - LEFT, q_last = (fine.x - 1) / 2 + first.y + RIGHT;
    const int k_first = max(row_first, first.x - LEFT);
    int row = row_first - 2 * (LEFT + RIGHT), q = row / 2 + first.y + RIGHT;
    Row2 coarse_even, coarse_odd;
    UNROLLED
    for (int c = 0; c < PAIRS; c++) coarse_even.v[c] = coarse_odd.v[c] = 0;
    if (q >= q_first && q <= q_last) {
        const uint there = q * coarse_width + from / 2;
        coarse_even = fetch_coarse(&samples_coarse, 2 * q, ll + there, coarse_hl + there);
        coarse_odd = fetch_coarse(&samples_coarse, 2 * q + 1, coarse_lh + there, coarse_hh + there);
    }
    while (row <= row_last) {
        // One round, as in dwt_level.cl.
        for (int once = 0; once < 1; once++, row += 2) {
            // Of the fine level's coefficients those that are no approximations.
            S4 high[2] = {0, 0};
            Raw odd[2] = {{0, 0}, {0, 0}};
            UNROLLED
            for (int h = 0; h < 2; h++) {
                const int k = row + h;
                const uint there = k * fine_width + detail / 2;
                if (k < k_first || k > row_last) continue;
                high[h] = fetch_fine(&samples_fine, 2 * k, hl + there, 1);
                odd[h].first = fetch_fine(&samples_fine, 2 * k + 1, lh + there, 0);
                odd[h].second = fetch_fine(&samples_fine, 2 * k + 1, hh + there, 1);
            }
            const Row2 upper = scaled2(coarse_even, 1 / K2, -1), lower = scaled2(coarse_odd, -1, K2);
            q++;
            if (q >= q_first && q <= q_last) {
                const uint there = q * coarse_width + from / 2;
                coarse_even = fetch_coarse(&samples_coarse, 2 * q, ll + there, coarse_hl + there);
                coarse_odd = fetch_coarse(&samples_coarse, 2 * q + 1, coarse_lh + there, coarse_hh + there);
            }
            UNROLLED
            for (int i = 1; i < KEPT; i++) coarse_e[i - 1] = coarse_e[i], coarse_o[i - 1] = coarse_o[i];
            __local S *here = coarse_line + turn * 2 * LINE(PAIRS);
            turn ^= 1;
            *(__local S4 *)(here + BEFORE) = in_order(upper);
            *(__local S4 *)(here + LINE(PAIRS) + BEFORE) = in_order(lower);
            barrier(CLK_LOCAL_MEM_FENCE);
            coarse_e[NEWEST] = lifted2(upper, here);
            coarse_o[NEWEST] = lifted2(lower, here + LINE(PAIRS));
            lift_columns2(coarse_e, coarse_o);
            UNROLLED
            for (int h = 0; h < 2; h++) {
                const int k = row + h;
                Raw even = {in_order(h ? coarse_o[FINISHED] : coarse_e[FINISHED]), high[h]};
                if ((samples_fine.is_aside || is_beyond(&samples_fine, 2 * k)) && k >= k_first && k <= row_last)
                    even.first = fetch_fine(&samples_fine, 2 * k, 0, 0);
                const Row4 evens = scaled4(row_of(even), 1 / K2, -1), odds = scaled4(row_of(odd[h]), -1, K2);
                UNROLLED
                for (int i = 1; i < KEPT; i++) e[i - 1] = e[i], o[i - 1] = o[i];
                __local S *there = line + h * 2 * LINE(COLUMNS);
                share(evens, there + BEFORE);
                share(odds, there + LINE(COLUMNS) + BEFORE);
                barrier(CLK_LOCAL_MEM_FENCE);
                e[NEWEST] = lifted4(evens, there);
                o[NEWEST] = lifted4(odds, there + LINE(COLUMNS));
                lift_columns4(e, o);
                const int made = k - first.x - RIGHT;
                if (own && made >= 2 * begin && made < min(2 * end, pairs_y)) {
                    __global S *to = image + (uint)(2 * made) * size.y + x;
                    store_within(e[FINISHED], to, x, size.y);
                    if (2 * made + 1 < size.x) store_within(o[FINISHED], to + size.y, x, size.y);
                }
            }
        }
    }
#endif
}
