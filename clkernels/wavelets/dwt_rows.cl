// How the work-items of dwt_level.cl read and write rows: by vectors their own columns; or, where rows do not begin at
// multiples of four, of a group's columns every ITEMS-th, so that neighbours' samples lie side by side. These come to those
// whose columns they are, and leave them, by way of local memory.
//
// After dwt_layout.cl, and dwt_lift.cl for 4.
// -D ITEMS=n   of a group
// -D WORDS     rows may be read and written by vectors

#define PAIRS 4  // of a work-item's columns
#define COLUMNS (2 * PAIRS)

// As they are fetched: of an image from left to right, of coefficients first all low ones.
typedef struct {
    S4 first, second;
} Raw;

typedef struct {
    Raw even, odd;
    S edge;  // a sample beside the group's columns, which some work-items fetch
} Fetched;

// Where a work-item finds what it reads of pair y / 2 of rows: its place in pair 0, and how far it is to the next.
typedef struct {
    __global const S *first[2], *second[2];  // of even and odd rows
    uint first_pitch, second_pitch;
    __global const S *edge;  // the sample beside the group's columns that it fetches, if any
    uint edge_pitch;
    int edge_row;
    __global const S *rows, *edge_rows;  // the same of what was put aside above and below
    uint rows_pitch, rows_second;
    int top, bottom;              // rows top … bottom − 1 are in place
    int above_top, above_bottom;  // which of `rows` would be the first of them, and the first after them
#ifndef WORDS
    __global const S *columns;  // where its first sample of row 0 is, if put aside on the right
    uint columns_pitch;
    int exist, inside;  // so many of its samples there are, and are not put aside on the right
    int before;         // how far it is from `columns`, if its first sample is put aside on the left
#ifdef STRIPS
    int4 layout;
    int pair;  // of its first sample
#endif
#endif
} Places;

static inline bool in_place(const Places *p, int y) {
    return y >= p->top && y < p->bottom;
}

static inline uint row_aside(const Places *p, int y) {
    return (y < p->top ? y - p->top + p->above_top : y - p->bottom + p->above_bottom) * p->rows_pitch;
}

static inline Row4 row_of(Raw raw) {
    Row4 row;
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

static inline void share(Row4 own, __local S *to) {
    UNROLLED
    for (int k = 0; k < PAIRS; k += 2)
        *(__local S4 *)(to + 2 * k) = (S4)(own.v[k], own.v[PAIRS + k], own.v[k + 1], own.v[PAIRS + k + 1]);
}

#ifdef WORDS
static inline S4 load_half(__global const S *from) {
    return *(__global const S4 *)from;
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

// PAIRS samples, which exist all or not at all.
static inline void store_half(const S *v, __global S *to) {
    *(__global S4 *)to = ((S4)(v[0], v[1], v[2], v[3]));
}

static inline void store_samples(Row4 row, __global S *to) {
    S s[COLUMNS];
    UNROLLED
    for (int k = 0; k < PAIRS; k++) s[2 * k] = row.v[k], s[2 * k + 1] = row.v[PAIRS + k];
    store_half(s, to);
    store_half(s + PAIRS, to + PAIRS);
}

#else
// How far it is in place from a work-item's sample, or coefficient, to that c · ITEMS further, and from low coefficient k to
// the high one in the same row. In strips a place is a number's bits moved: c · ITEMS and the first one's have none in common.
#ifdef STRIPS
#define SAMPLE_STEP(c, layout) column_place((c) * ITEMS, layout)
#define PAIR_STEP(c, layout) low_place((c) * ITEMS, layout)
#define HIGH_STEP(k, layout) half_length(k, layout)
#else
#define SAMPLE_STEP(c, layout) ((c) * ITEMS)
#define PAIR_STEP(c, layout) ((c) * ITEMS)
#define HIGH_STEP(k, layout) 0  // in a band of their own
#endif

// How far along x one's next sample is of those that are read.
#ifdef INVERSE
#define STEP (2 * ITEMS)
#else
#define STEP ITEMS
#endif

// How many of x, x + step, … are less than `end`.
static inline int count_before(int end, int x, int step) {
    return (max(end - x, 0) + step - 1) / step;
}

static inline Raw fetch_row(const Places *p, int y, int odd) {
    const bool there = in_place(p, y + odd);
    __global const S *first = p->first[odd] + y / 2 * p->first_pitch;
    __global const S *aside = there ? p->columns + (uint)(y + odd) * p->columns_pitch : p->rows + row_aside(p, y + odd);
    const int inside = there ? p->inside : 0;
    S s[COLUMNS];
#ifdef INVERSE
#ifdef STRIPS
    __global const S *second = first;
#else
    __global const S *second = p->second[odd] + y / 2 * p->second_pitch;
#endif
    const uint columns_pitch = p->columns_pitch, rows_pitch = p->rows_pitch;
    __global const S *aside_second = aside + SECOND_ASIDE(there ? columns_pitch : rows_pitch);
    UNROLLED
    for (int k = 0; k < PAIRS; k++) {
        s[k] = s[PAIRS + k] = 0;
        if (k < inside) {
            const uint place = PAIR_STEP(k, p->layout);
            s[k] = first[place], s[PAIRS + k] = second[place + HIGH_STEP(p->pair + k * ITEMS, p->layout)];
        } else if (k < p->exist) {
            s[k] = aside[k * ITEMS], s[PAIRS + k] = aside_second[k * ITEMS];
        }
    }
#else
    const int before = there ? p->before : 0;
    UNROLLED
    for (int c = 0; c < COLUMNS; c++) {
        s[c] = 0;
        if (c == 0 && before)  // there are no more of these than work-items
            s[c] = aside[before];
        else if (c < inside)
            s[c] = first[SAMPLE_STEP(c, p->layout)];
        else if (c < p->exist)
            s[c] = aside[c * ITEMS];
    }
#endif
    const Raw raw = {(S4)(s[0], s[1], s[2], s[3]), (S4)(s[4], s[5], s[6], s[7])};
    return raw;
}

// A row's samples as they were fetched, to the line of the group's.
static inline void spread(Row4 row, __local S *line) {
    const int item = get_local_id(0);
    UNROLLED
    for (int k = 0; k < PAIRS; k++) {
#ifdef INVERSE
        *(__local S2 *)(line + 2 * (item + k * ITEMS)) = (S2)(row.v[k], row.v[PAIRS + k]);
#else
        line[item + 2 * k * ITEMS] = row.v[k];
        line[item + (2 * k + 1) * ITEMS] = row.v[PAIRS + k];
#endif
    }
}

// One's own columns, out of it.
static inline Row4 gathered(__local const S *own) {
    Row4 row;
    UNROLLED
    for (int k = 0; k < PAIRS; k += 2) {
        const S4 v = *(__local const S4 *)(own + 2 * k);
        row.v[k] = v.x, row.v[PAIRS + k] = v.y, row.v[k + 1] = v.z, row.v[PAIRS + k + 1] = v.w;
    }
    return row;
}

// One's own low coefficients of a row, and behind all of the group's its high ones.
static inline void share_halves(Row4 own, __local S *to) {
    *(__local S4 *)to = (S4)(own.v[0], own.v[1], own.v[2], own.v[3]);
    *(__local S4 *)(to + ITEMS * PAIRS) = (S4)(own.v[4], own.v[5], own.v[6], own.v[7]);
}
#endif

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
