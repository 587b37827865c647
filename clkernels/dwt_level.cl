// One level of the transform of planes, or of its inverse, both axes in one pass: 8 bytes of traffic a float.
//
//   lifting   for each of STEPS  target[k] += Σ_j weight[j] other[k + first + j],  target and other being the even and the
//             odd samples of pairs k (2k, 2k + 1);  then low = even · K, high = −odd / K: along both axes K2 = K², −1 or
//             1 / K².  The inverse takes the steps backwards.  Sweldens, SIAM J. Math. Anal. 29 (1998).
//
// A work-item owns COLUMNS neighbouring columns and goes down a band of rows, two at a time. Along x it lifts each with what
// neighbours put into local memory. Along y it keeps of the last pairs of rows what steps still to come will read. The next
// pair of rows is on its way meanwhile.
//
// What it reads is an image or coefficients as one: dwt_layout.cl. Beyond edges it reads what dwt_margins.cl put aside.
//
// After dwt_layout.cl and a schedule of the wavelet's steps: gpuops/dwt/schedule.py.
// -D BEFORE=n, AFTER=n    columns that its own depend on, multiples of four
// -D WORDS                rows may be read and written by vectors
// Local: (ITEMS, 1, 1). Global: (tiles · ITEMS, bands, planes).

#define PAIRS 4  // of a work-item's columns
#define COLUMNS (2 * PAIRS)
#define OWN (BEFORE / 2)  // one's own first pair among those that a row is lifted with
#define AROUND (OWN + PAIRS + AFTER / 2)
#define UNROLLED _Pragma("unroll")

// COLUMNS samples of a row: of pairs, first all even ones.
typedef struct {
    S v[COLUMNS];
} Row;

// As they lie in memory: of an image side by side, of coefficients first all low ones.
typedef struct {
    S4 first, second;
} Raw;

typedef struct {
    Raw even, odd;
    S edge;  // a sample beside the group's columns, which some work-items fetch
} Fetched;

// The steps along x, so that one's own pairs come out right.
#define ALONG_X(target, other, first_tap, taps, before, after, again, ...)                                             \
    {                                                                                                                  \
        const S weights[] = {__VA_ARGS__};                                                                             \
        UNROLLED for (int k = OWN - before; k < OWN + PAIRS + after; k++)                                              \
            UNROLLED for (int j = 0; j < taps; j++) target[k] = fma(weights[j], other[k + first_tap + j], target[k]);  \
    }

static inline void lift_row(S *e, S *o) {
    STEPS(ALONG_X)
}

// Of KEPT pairs of rows the last is the newest; RIGHT before it is the one that this finishes.
#define NEWEST (KEPT - 1)
#define FINISHED (NEWEST - RIGHT)

#define ALONG_Y(target, other, first_tap, taps, before, after, again, ...)                                             \
    {                                                                                                                  \
        const S weights[] = {__VA_ARGS__};                                                                             \
        const int k = FINISHED + after;                                                                                \
        UNROLLED for (int j = 0; j < taps; j++)                                                                        \
            UNROLLED for (int c = 0; c < COLUMNS; c++)                                                                 \
                target[k].v[c] = fma(weights[j], other[k + first_tap + j].v[c], target[k].v[c]);                       \
    }

static inline void lift_columns(Row *e, Row *o) {
    STEPS(ALONG_Y)
}

// PAIRS samples, of which `count` exist.
static inline void store_half(const S *v, __global S *to, int count) {
#ifdef WORDS
    *(__global S4 *)to = ((S4)(v[0], v[1], v[2], v[3]));  // that exist all or not at all
#else
    UNROLLED
    for (int k = 0; k < PAIRS; k++)
        if (k < count) to[k] = v[k];
#endif
}

static inline void store_samples(Row row, __global S *to, int count) {
    S s[COLUMNS];
    UNROLLED
    for (int k = 0; k < PAIRS; k++) s[2 * k] = row.v[k], s[2 * k + 1] = row.v[PAIRS + k];
    store_half(s, to, count);
    store_half(s + PAIRS, to + PAIRS, count - PAIRS);
}

static inline Row scaled(Row row, S even, S odd) {
    Row result;  // Mesa's compiler may change the caller's `row` if this one is changed
    UNROLLED
    for (int k = 0; k < PAIRS; k++) result.v[k] = even * row.v[k], result.v[PAIRS + k] = odd * row.v[PAIRS + k];
    return result;
}

static inline S4 load_half(__global const S *from) {
#ifdef WORDS
    return *(__global const S4 *)from;
#else
    return vload4(0, from);
#endif
}

static inline Row row_of(Raw raw) {
    Row row;
    const S s[COLUMNS] = {raw.first.s0,  raw.first.s1,  raw.first.s2,  raw.first.s3,
                          raw.second.s0, raw.second.s1, raw.second.s2, raw.second.s3};
#ifdef INVERSE
    UNROLLED
    for (int c = 0; c < COLUMNS; c++) row.v[c] = s[c];
#else
    UNROLLED
    for (int k = 0; k < PAIRS; k++) row.v[k] = s[2 * k], row.v[PAIRS + k] = s[2 * k + 1];
#endif
    return row;
}

// Where a work-item finds what it reads of pair y / 2 of rows: its place in pair 0, and how far it is to the next.
typedef struct {
    __global const S *first[2], *second[2];  // its own columns, of even and odd rows
    uint first_pitch, second_pitch;
    __global const S *edge;  // the sample beside the group's columns that it fetches, if any
    uint edge_pitch;
    int edge_row;
    __global const S *rows, *edge_rows;  // the same of what was put aside above and below
    uint rows_pitch, rows_second;
    int top, bottom;                           // rows top … bottom − 1 are in place
    int above_top, above_bottom;               // which of `rows` would be the first of them, and the first after them
} Places;

static inline bool in_place(const Places *p, int y) {
    return y >= p->top && y < p->bottom;
}

static inline uint row_aside(const Places *p, int y) {
    return (y < p->top ? y - p->top + p->above_top : y - p->bottom + p->above_bottom) * p->rows_pitch;
}

static inline Raw fetch_row(const Places *p, int y, int odd) {
    __global const S *first = p->first[odd] + y / 2 * p->first_pitch;
    __global const S *second = p->second[odd] + y / 2 * p->second_pitch;
    if (!in_place(p, y + odd)) {
        first = p->rows + row_aside(p, y + odd);
        second = first + p->rows_second;
    }
    const Raw raw = {load_half(first), load_half(second)};
    return raw;
}

static inline Fetched fetch(const Places *p, int y) {
    Fetched f;
    f.even = fetch_row(p, y, 0);
    f.odd = fetch_row(p, y, 1);
#if EDGE
    if (p->edge) {
        const int row = y + p->edge_row;
        f.edge = *(in_place(p, row) ? p->edge + y / 2 * p->edge_pitch : p->edge_rows + row_aside(p, row));
    }
#endif
    return f;
}

// One's own columns of a row, lifted with what neighbours put into `line`.
static inline Row lifted(Row own, __local const S *line) {
    S e[AROUND], o[AROUND];
    UNROLLED
    for (int k = 0; k < PAIRS; k++) e[OWN + k] = own.v[k], o[OWN + k] = own.v[PAIRS + k];
    UNROLLED
    for (int c = 0; c < EDGE; c += 4) {
        const int from = c < BEFORE ? c : c + COLUMNS, k = from / 2;
        const S4 v = *(__local const S4 *)(line + from);
        e[k] = v.x, o[k] = v.y, e[k + 1] = v.z, o[k + 1] = v.w;
    }
    lift_row(e, o);
    Row row;
    UNROLLED
    for (int k = 0; k < PAIRS; k++) row.v[k] = e[OWN + k], row.v[PAIRS + k] = o[OWN + k];
    return row;
}

static inline void share(Row own, __local S *to) {
    UNROLLED
    for (int k = 0; k < PAIRS; k += 2)
        *(__local S4 *)(to + 2 * k) = (S4)(own.v[k], own.v[PAIRS + k], own.v[k + 1], own.v[PAIRS + k + 1]);
}

#ifdef STRIPS
#define IMAGE __global S *buffer, uint pitch, int4 layout
#define COEFFICIENTS
#elif defined(INVERSE)
#define IMAGE __global S *restrict out, uint pitch
#define BAND , __global const S *restrict
#define COEFFICIENTS BAND ll BAND lh BAND hl BAND hh
#else
#define IMAGE __global const S *restrict in, uint pitch
#define BAND , __global S *restrict
#define COEFFICIENTS BAND ll BAND lh BAND hl BAND hh
#endif

// A row of coefficients of bands whose rows are `width` long.
#define BAND_ROW(band, height, width, k) ((band) + ((size_t)plane * (height) + (k)) * (width))

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void level(
    IMAGE COEFFICIENTS, __global const S *restrict columns, __global const S *restrict rows, int4 bands, int2 image,
    ulong plane_size, int first, int4 sides, int4 beyond, int tiles, int band) {
    __local S lines[2][2][BEFORE + ITEMS * COLUMNS + AFTER] __attribute__((aligned(32)));
    const int item = get_local_id(0), tile = get_group_id(0), number = get_group_id(1);
    const size_t plane = get_global_id(2);
    const int height = READ_HEIGHT(bands, image), start = 2 * first - ROOM;
    const int pairs_x = PAIRS_X(bands, image), pairs_y = PAIRS_Y(bands, image);
    const int pair = (int)get_global_id(0) * PAIRS, begin = number * band, end = min(begin + band, pairs_y);
    const int last = 2 * (first + pairs_x + 2 * PAIRS);  // further columns are nobody's
    const int x = min(2 * (pair + first), last);
    columns += plane * height * sides.z;
    rows += plane * beyond.y * sides.w;

    Places at;
    at.rows = rows + PLACE_ASIDE(x - start, sides.w);
    at.rows_pitch = sides.w;
    at.rows_second = SECOND_ASIDE(sides.w);
#ifdef STRIPS
    buffer += plane * plane_size;
    at.top = min(2 * begin, height), at.bottom = end == pairs_y ? height : 2 * end;
    at.above_top = number * beyond.z + beyond.x, at.above_bottom = at.above_top + beyond.z;
    const int aside = x >= sides.y, kept = EDGES_ASIDE(tiles), aside_at = kept + x - sides.y;
#else
    at.top = 0, at.bottom = height;
    at.above_top = at.above_bottom = beyond.x;
    const int aside = x < sides.x || x >= sides.y, kept = sides.x - start;
    const int aside_at = x < sides.x ? x - start : kept + x - sides.y;
#endif
    UNROLLED
    for (int h = 0; h < 2; h++) {
        if (aside) {
            at.first[h] = columns + h * sides.z + PLACE_ASIDE(aside_at, sides.z);
            at.second[h] = at.first[h] + SECOND_ASIDE(sides.z);
            at.first_pitch = at.second_pitch = 2 * sides.z;
        } else {
#if defined(INVERSE) && defined(STRIPS)
            at.first[h] = buffer + h * pitch + low_place(x / 2, layout);
            at.second[h] = at.first[h] + half_length(x / 2, layout);
            at.first_pitch = at.second_pitch = 2 * pitch;
#elif defined(INVERSE)
            at.first[h] = BAND_ROW(h ? lh : ll, h ? bands.y : bands.x, bands.z, 0) + x / 2;
            at.second[h] = BAND_ROW(h ? hh : hl, h ? bands.y : bands.x, bands.w, 0) + x / 2;
            at.first_pitch = bands.z, at.second_pitch = bands.w;
#else
#ifdef STRIPS
            at.first[h] = buffer + h * pitch + column_place(x, layout);
#else
            at.first[h] = in + plane * plane_size + h * pitch + x;
#endif
            at.second[h] = at.first[h] + PAIRS;
            at.first_pitch = at.second_pitch = 2 * pitch;
#endif
        }
    }

#if EDGE
    // The group's first 2 EDGE work-items fetch what is beside its columns.
    const int edge = item % EDGE, edge_line = edge < BEFORE ? edge : edge + ITEMS * COLUMNS;
    const int edge_x = min(2 * (tile * ITEMS * PAIRS + first) - BEFORE + edge_line, last + COLUMNS + AFTER - 1);
    at.edge = 0;
    at.edge_row = item >= EDGE;
    if (item < 2 * EDGE) {
        at.edge_rows = rows + PLACE_ASIDE(edge_x - start, sides.w);
#ifdef STRIPS
        const int edge_at = edge_x >= sides.y ? kept + edge_x - sides.y : (edge < BEFORE ? tile : tile + 1) * EDGE + edge;
        at.edge = columns + at.edge_row * sides.z + PLACE_ASIDE(edge_at, sides.z);
        at.edge_pitch = 2 * sides.z;
#else
        if (edge_x < sides.x || edge_x >= sides.y) {
            const int edge_at = edge_x < sides.x ? edge_x - start : kept + edge_x - sides.y;
            at.edge = columns + at.edge_row * sides.z + PLACE_ASIDE(edge_at, sides.z);
            at.edge_pitch = 2 * sides.z;
        } else {
#ifdef INVERSE
            const int high = edge_x & 1;
            at.edge = at.edge_row ? BAND_ROW(high ? hh : lh, bands.y, high ? bands.w : bands.z, 0)
                                  : BAND_ROW(high ? hl : ll, bands.x, high ? bands.w : bands.z, 0);
            at.edge += edge_x / 2;
            at.edge_pitch = high ? bands.w : bands.z;
#else
            at.edge = in + plane * plane_size + at.edge_row * pitch + edge_x;
            at.edge_pitch = 2 * pitch;
#endif
        }
#endif
    }
#endif

    Row e[KEPT], o[KEPT];
    UNROLLED
    for (int k = 0; k < KEPT; k++)
        UNROLLED
        for (int c = 0; c < COLUMNS; c++) e[k].v[c] = o[k].v[c] = 0;
    int y = 2 * (begin + first - LEFT), turn = 0;
    const int final = 2 * (end - 1 + first + RIGHT);
    Fetched next = fetch(&at, y);
    int k = begin - LEFT - RIGHT;
    while (k < end) {
        // One round. So NVIDIA's compiler waits at its end for what was fetched: the inverse takes four fifths of the time.
        for (int once = 0; once < 1 && k < end; once++, k++) {
            const Fetched now = next;
            y += 2;
            if (y <= final) next = fetch(&at, y);
            UNROLLED
            for (int i = 1; i < KEPT; i++) e[i - 1] = e[i], o[i - 1] = o[i];
#ifdef INVERSE
            const Row even = scaled(row_of(now.even), 1 / K2, -1), odd = scaled(row_of(now.odd), -1, K2);
#else
            const Row even = row_of(now.even), odd = row_of(now.odd);
#endif
#if EDGE
            // A line's next use is two barriers from here.
            share(even, &lines[turn][0][BEFORE + item * COLUMNS]);
            share(odd, &lines[turn][1][BEFORE + item * COLUMNS]);
#ifdef INVERSE
            const S scale = at.edge_row ? (edge_line & 1 ? K2 : -1) : edge_line & 1 ? -1 : 1 / K2;
#else
            const S scale = 1;
#endif
            if (at.edge) lines[turn][at.edge_row][edge_line] = now.edge * scale;
#endif
#ifdef STRIPS
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // all have read what is overwritten from now on
#elif EDGE
            barrier(CLK_LOCAL_MEM_FENCE);
#endif
            e[NEWEST] = lifted(even, &lines[turn][0][item * COLUMNS]);
            o[NEWEST] = lifted(odd, &lines[turn][1][item * COLUMNS]);
            turn ^= 1;
            lift_columns(e, o);
            if (k < begin || pair >= pairs_x) continue;
#ifdef INVERSE
            const int row = 2 * k, count = image.y - 2 * pair;
#ifdef STRIPS
            __global S *to = buffer + row * pitch + column_place(2 * pair, layout);
#else
            __global S *to = out + plane * plane_size + row * pitch + 2 * pair;
#endif
            store_samples(e[FINISHED], to, count);
            if (row + 1 < image.x) store_samples(o[FINISHED], to + pitch, count);
#else
            const Row low = scaled(e[FINISHED], K2, -1), high = scaled(o[FINISHED], -1, 1 / K2);
            const int lows = bands.z - pair, highs = bands.w - pair;
#ifdef STRIPS
            __global S *to = buffer + 2 * k * pitch + low_place(pair, layout);
            const uint further = half_length(pair, layout);
            store_half(low.v, to, lows);
            store_half(low.v + PAIRS, to + further, highs);
            if (k < bands.y) {
                store_half(high.v, to + pitch, lows);
                store_half(high.v + PAIRS, to + pitch + further, highs);
            }
#else
            store_half(low.v, BAND_ROW(ll, bands.x, bands.z, k) + pair, lows);
            store_half(low.v + PAIRS, BAND_ROW(hl, bands.x, bands.w, k) + pair, highs);
            if (k < bands.y) {
                store_half(high.v, BAND_ROW(lh, bands.y, bands.z, k) + pair, lows);
                store_half(high.v + PAIRS, BAND_ROW(hh, bands.y, bands.w, k) + pair, highs);
            }
#endif
#endif
        }
    }
}
