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
// After dwt_layout.cl, the wavelet's steps as a macro (gpuops/wavelets/lifting.py), dwt_lift.cl for 4, and dwt_rows.cl.
// Local: (ITEMS, 1, 1). Global: (tiles · ITEMS, bands, planes).

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
#ifdef WORDS
    __local S lines[2][2][BEFORE + ITEMS * COLUMNS + AFTER] __attribute__((aligned(32)));
#else
    __local S lines[2][BEFORE + ITEMS * COLUMNS + AFTER] __attribute__((aligned(32)));
    __local S finished[2][ITEMS * COLUMNS] __attribute__((aligned(32)));
#endif
    const int item = get_local_id(0), tile = get_group_id(0), number = get_group_id(1);
    const size_t plane = get_global_id(2);
    const int height = READ_HEIGHT(bands, image), start = 2 * first - ROOM;
    const int pairs_x = PAIRS_X(bands, image), pairs_y = PAIRS_Y(bands, image);
    const int pair = (int)get_global_id(0) * PAIRS, begin = number * band, end = min(begin + band, pairs_y);
    const int last = 2 * (first + pairs_x + 2 * PAIRS);  // further columns are nobody's
#ifdef WORDS
    const int x = min(2 * (pair + first), last);
#else
    const int x = 2 * (tile * ITEMS * PAIRS + first) + item * STEP / ITEMS;
#endif
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
    const int on_left = 0, kept = EDGES_ASIDE(tiles);
#else
    at.top = 0, at.bottom = height;
    at.above_top = at.above_bottom = beyond.x;
    const int on_left = x < sides.x, kept = sides.x - start;
#endif
#ifdef WORDS
    const int aside = on_left || x >= sides.y, aside_at = on_left ? x - start : kept + x - sides.y;
#else
    at.columns = columns + PLACE_ASIDE(kept + x - sides.y, sides.z);
    at.columns_pitch = sides.z;
    at.exist = count_before(last + COLUMNS + AFTER, x, STEP);
    at.inside = sides.x < sides.y ? count_before(sides.y, x, STEP) : 0;
    at.before = on_left ? sides.y - sides.x : 0;
#ifdef STRIPS
    at.layout = layout;
    at.pair = x / 2;
#endif
#endif
    UNROLLED
    for (int h = 0; h < 2; h++) {
#ifdef WORDS
        if (aside) {
            at.first[h] = columns + h * sides.z + PLACE_ASIDE(aside_at, sides.z);
            at.second[h] = at.first[h] + SECOND_ASIDE(sides.z);
            at.first_pitch = at.second_pitch = 2 * sides.z;
        } else
#endif
        {
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

#ifndef WORDS
    // What it writes of a row: sample, or coefficients, `mine` and every ITEMS-th further one, so many as there are.
#ifdef INVERSE
    const int mine = tile * ITEMS * COLUMNS + item, samples = count_before(image.y, mine, ITEMS);
#else
    const int mine = tile * ITEMS * PAIRS + item;
    const int lows = count_before(bands.z, mine, ITEMS), highs = count_before(bands.w, mine, ITEMS);
#endif
#endif
    Row4 e[KEPT], o[KEPT];
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
            const Row4 even = scaled4(row_of(now.even), 1 / K2, -1), odd = scaled4(row_of(now.odd), -1, K2);
#else
            const Row4 even = row_of(now.even), odd = row_of(now.odd);
#endif
#ifndef WORDS
            __local S(*line)[BEFORE + ITEMS * COLUMNS + AFTER] = lines;
            spread(even, &line[0][BEFORE]);
            spread(odd, &line[1][BEFORE]);
#elif EDGE
            // A line's next use is two barriers from here.
            __local S(*line)[BEFORE + ITEMS * COLUMNS + AFTER] = lines[turn];
            share(even, &line[0][BEFORE + item * COLUMNS]);
            share(odd, &line[1][BEFORE + item * COLUMNS]);
#endif
#if EDGE
#ifdef INVERSE
            const S scale = at.edge_row ? (edge_line & 1 ? K2 : -1) : edge_line & 1 ? -1 : 1 / K2;
#else
            const S scale = 1;
#endif
            if (at.edge) line[at.edge_row][edge_line] = now.edge * scale;
#endif
#ifdef STRIPS
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // all have read what is overwritten from now on
#elif EDGE || !defined(WORDS)
            barrier(CLK_LOCAL_MEM_FENCE);
#endif
#ifdef WORDS
            e[NEWEST] = lifted4(even, &lines[turn][0][item * COLUMNS]);
            o[NEWEST] = lifted4(odd, &lines[turn][1][item * COLUMNS]);
            turn ^= 1;
            lift_columns4(e, o);
            if (k < begin || pair >= pairs_x) continue;
#ifdef INVERSE
            const int row = 2 * k;
#ifdef STRIPS
            __global S *to = buffer + row * pitch + column_place(2 * pair, layout);
#else
            __global S *to = out + plane * plane_size + row * pitch + 2 * pair;
#endif
            store_samples(e[FINISHED], to);
            if (row + 1 < image.x) store_samples(o[FINISHED], to + pitch);
#else
            const Row4 low = scaled4(e[FINISHED], K2, -1), high = scaled4(o[FINISHED], -1, 1 / K2);
#ifdef STRIPS
            __global S *to = buffer + 2 * k * pitch + low_place(pair, layout);
            const uint further = half_length(pair, layout);
            store_half(low.v, to);
            store_half(low.v + PAIRS, to + further);
            if (k < bands.y) {
                store_half(high.v, to + pitch);
                store_half(high.v + PAIRS, to + pitch + further);
            }
#else
            store_half(low.v, BAND_ROW(ll, bands.x, bands.z, k) + pair);
            store_half(low.v + PAIRS, BAND_ROW(hl, bands.x, bands.w, k) + pair);
            if (k < bands.y) {
                store_half(high.v, BAND_ROW(lh, bands.y, bands.z, k) + pair);
                store_half(high.v + PAIRS, BAND_ROW(hh, bands.y, bands.w, k) + pair);
            }
#endif
#endif
#else
            e[NEWEST] = lifted4(gathered(&lines[0][BEFORE + item * COLUMNS]), &lines[0][item * COLUMNS]);
            o[NEWEST] = lifted4(gathered(&lines[1][BEFORE + item * COLUMNS]), &lines[1][item * COLUMNS]);
            lift_columns4(e, o);
#ifdef INVERSE
            share(e[FINISHED], &finished[0][item * COLUMNS]);
            share(o[FINISHED], &finished[1][item * COLUMNS]);
#else
            share_halves(scaled4(e[FINISHED], K2, -1), &finished[0][item * PAIRS]);
            share_halves(scaled4(o[FINISHED], -1, 1 / K2), &finished[1][item * PAIRS]);
#endif
            barrier(CLK_LOCAL_MEM_FENCE);  // that of the next pair of rows comes before these are overwritten
            if (k < begin) continue;
#pragma unroll 1  // fewer registers: more groups at once
            for (int h = 0; h < 2; h++) {
#ifdef INVERSE
                if (2 * k + h >= image.x) continue;
#ifdef STRIPS
                __global S *to = buffer + (2 * k + h) * pitch + column_place(mine, layout);
#else
                __global S *to = out + plane * plane_size + (2 * k + h) * pitch + mine;
#endif
                UNROLLED
                for (int c = 0; c < COLUMNS; c++)
                    if (c < samples) to[SAMPLE_STEP(c, layout)] = finished[h][item + c * ITEMS];
#else
                if (h && k >= bands.y) continue;
#ifdef STRIPS
                __global S *low = buffer + (2 * k + h) * pitch + low_place(mine, layout), *high = low;
#else
                __global S *low = BAND_ROW(h ? lh : ll, h ? bands.y : bands.x, bands.z, k) + mine;
                __global S *high = BAND_ROW(h ? hh : hl, h ? bands.y : bands.x, bands.w, k) + mine;
#endif
                UNROLLED
                for (int c = 0; c < PAIRS; c++) {
                    const uint place = PAIR_STEP(c, layout), further = HIGH_STEP(mine + c * ITEMS, layout);
                    if (c < lows) low[place] = finished[h][item + c * ITEMS];
                    if (c < highs) high[place + further] = finished[h][item + (PAIRS + c) * ITEMS];
                }
#endif
            }
#endif
        }
    }
}
