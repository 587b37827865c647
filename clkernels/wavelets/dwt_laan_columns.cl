// Columns: a group goes down a band of a block of columns, `band` pairs of rows. Local memory has a window of
// WINDOW pairs. Each time the window slides by ROUND pairs, each step goes on by as many: what it left half
// lifted waits in the window, which is a ring.
//
// After dwt_laan.cl.
// -D WINDOW=n   pairs, a power of two, ROUND + KEPT − 1 at least
// -D DOWN=n     pairs of rows that a group takes side by side
// -D BATCH=n    so many of them a work-item has under way at the same time
// -D ROUND=n    pairs, a multiple of DOWN · BATCH
// block: vectors of WIDTH columns. window: WINDOW · block of them for the even rows, and as many for the odd
// ones.
// Local: (items, DOWN, 1). Global: (blocks · items, bands · DOWN, planes).

// Vector c of pair k of the even or the odd rows, in the window.
#define CELL(rows, k, c) rows[((k) & (WINDOW - 1)) * block + (c)]

__kernel ALREADY_WIDE void columns(BUFFERS, SIZES, int across, int n, int lows, int highs, int band, int block,
                                   __local V *window) {
    const int x = get_group_id(0) * block * WIDTH, left = across - x;
    const int vectors = min(block, (left + WIDTH - 1) / WIDTH);
    const int begin = get_group_id(1) * band, end = min(begin + band, lows);
    const int down = get_local_id(1), item = get_local_id(0), items = get_local_size(0);
    const size_t plane = get_global_id(2);
    image += plane * image_size.x * image_size.y + x;
    low += plane * low_size.x * low_size.y + x;
    high += (plane * high_size.x + high_from) * high_size.y + x;
    __local V *even = window, *odd = window + WINDOW * block;

    for (int k = begin - LEFT; k < end + RIGHT; k += ROUND) {
        for (int r = down; r < ROUND; r += DOWN * BATCH)
            for (int c = item; c < vectors; c += items) {
                V v[2 * BATCH];
#pragma unroll
                for (int m = 0; m < 2 * BATCH; m++) {
                    const int h = m & 1, at = INDEX(min(k + r + m / 2 * DOWN, end + RIGHT - 1), h);
                    __global const S *from = SOURCE(h) + (size_t)max(at, 0) * SOURCE_SIZE(h).y + c * WIDTH;
                    v[m] = at < 0 ? (V)0 : load_some(from, left - c * WIDTH);
                }
#pragma unroll
                for (int m = 0; m < BATCH; m++) {
                    CELL(even, k + r + m * DOWN, c) = SCALED(v[2 * m], 0);
                    CELL(odd, k + r + m * DOWN, c) = SCALED(v[2 * m + 1], 1);
                }
            }
        FENCE();
#pragma unroll
        for (int s = 0; s < STEPS; s++) {
            __local V *target = STEP_ODD[s] ? odd : even, *other = STEP_ODD[s] ? even : odd;
            for (int r = down; r < ROUND; r += DOWN) {
                const int at = k + r - RIGHT + STEP_AFTER[s];  // the newest pair whose neighbours are here
                for (int c = item; c < vectors; c += items) {
                    V others[TAPS];
#pragma unroll
                    for (int j = 0; j < TAPS; j++) others[j] = IS_TAP(s, j) ? CELL(other, at + FIRST[s] + j, c) : (V)0;
                    CELL(target, at, c) = lifted(s, CELL(target, at, c), others);
                }
            }
            FENCE();
        }
        for (int r = down; r < ROUND; r += DOWN) {
            const int done = k + r - RIGHT;
            if (done < begin || done >= end) continue;
            for (int c = item; c < vectors; c += items) {
                const V e = RESULT(CELL(even, done, c), 0), o = RESULT(CELL(odd, done, c), 1);
                const int count = left - c * WIDTH;
#ifdef INVERSE
                __global S *to = image + (size_t)(2 * done) * image_size.y + c * WIDTH;
                store_some(e, to, count);
                if (2 * done + 1 < n) store_some(o, to + image_size.y, count);
#else
                store_some(e, low + (size_t)done * low_size.y + c * WIDTH, count);
                if (done < highs) store_some(o, high + (size_t)done * high_size.y + c * WIDTH, count);
#endif
            }
        }
        FENCE();
    }
}
