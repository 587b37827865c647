// resize.cl for the vectors of a CPU where both axes shrink, or one does and the other stays: see there. After lanes.cl
// (WIDTH=8), store_sixteen.cl, block_columns.cl and fetch_ahead.cl.
//
// Every sample is read once, and added to the results that are under way: at most DOWN of them along y, ACROSS along x.
// For sample j, events[j] = (results that ended before j, results that have begun), and weights[j] are those for the
// results from the first of these on, 0 for one that has not begun (gpuops/filters/resampling.py, BySample).
//
// Down the columns, vectors are sixteen neighbouring samples of a row. A piece is PIECE rows, from a multiple of PIECE on,
// of all columns of a strip: so few rows can be fetched ahead. Its sums are added to those of the pieces before, so that
// rounding grows slower. Sixteen rows of results are transposed as soon as they are complete, so that along the rows
// vectors are sixteen rows of one column.
//
// -D DOWN=n -D ACROSS=n   are the most results under way

#define PIECE 16
#define RING 32                 // rows of results in local memory: up to 15 that wait for others, and those of a piece
#define VECTORS 2               // vectors of a row that are summed at a time
#define SPAN (16 * VECTORS)
#define DISTANCE 256            // how many samples before their use others are fetched

#define EACH(i, n) UNROLLED for (int i = 0; i < n; i++)

// One load: PoCL makes vload16 of two, whose pieces its compiler may go on with one by one.
typedef float16 __attribute__((aligned(4))) unaligned16;

// sums[k][b] is the b-th of n vectors of the k-th result under way: those from the `first` on begin; samples count for all;
// the first one has ended, and the others move up. Macros, as arrays that functions are given stay in memory.
#define BEGIN(sums, live, n, first) \
    EACH(k, live)                   \
        if (k >= (first)) EACH(b, n) sums[k][b] = 0.0f;
#define ADD(sums, live, n, w, v) EACH(k, live) EACH(b, n) sums[k][b] = fma((float16)((w)[k]), (v)[b], sums[k][b]);
#define MOVE_UP(sums, live, n)                                  \
    {                                                           \
        EACH(k, live - 1) EACH(b, n) sums[k][b] = sums[k + 1][b]; \
        EACH(b, n) sums[live - 1][b] = 0.0f;                    \
    }

// The last lanes of a vector as its first ones.
static inline float16 moved(float16 v, int lanes) {
    return shuffle(v, (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) + (uint)lanes);
}

// Global: (strips, bands, planes), groups of one. `in` has the picture's rows from `top` on, `height` of them, of sixteen
// samples at least; `out` has the result's rows from `first` on, `rows` of them. A strip's results need `chunk` samples of
// a row at most, a multiple of SPAN. ring: RING rows of these; state: DOWN rows; sums: sixteen rows of a strip's results.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void resize_down(__global const float *in, __global const int2 *spans_y, __global const int2 *events_y,
                 __global const float *weights_y, __global const int2 *spans_x, __global const int2 *events_x,
                 __global const float *weights_x, __global float *out, int height, int width, int top, int first, int rows,
                 int columns, int strip, int band, int chunk, __local float16 *ring, __local float16 *state,
                 __local float16 *sums) {
    int x0 = get_global_id(0) * strip, x1 = min(x0 + strip, columns);
    int y0 = first + get_global_id(1) * band, y1 = min(y0 + band, first + rows);
    int left = spans_x[x0].x, right = spans_x[x1 - 1].x + spans_x[x1 - 1].y, wide = right - left;
    int bottom = spans_y[y1 - 1].x + spans_y[y1 - 1].y;
    in += get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)rows * columns;
    // Results from `oldest` on are under way at row p. Those from `written` on are in the ring, as far as they have ended.
    int p = spans_y[y0].x, oldest = events_y[p].x, before = oldest, written = y0;
    while (p < bottom) {
        int end = min((p / PIECE + 1) * PIECE, bottom), o = oldest, begun = before;
        for (int f = 0; f < wide; f += SPAN) {
            float16 part[DOWN][VECTORS];
            BEGIN(part, DOWN, VECTORS, 0)
            int beyond[VECTORS];  // a vector that would end behind the row begins so many samples earlier
            EACH(b, VECTORS) beyond[b] = max(0, left + f + 16 * b + 16 - width);
            __global const float *from = in + (size_t)(p - top) * width + left + f;
            long ahead = f + DISTANCE < wide ? DISTANCE : (long)(end - p) * width + DISTANCE - wide;
            __local float16 *own = ring + f, *kept = state + f / 16;
            o = oldest, begun = before;
            for (int j = p; o < y1; o++) {
                int until = spans_y[o].x + spans_y[o].y;
                for (; j < min(until, end); j++, from += width) {
                    int now = events_y[j].y;
                    if (begun < now) {
                        BEGIN(part, DOWN, VECTORS, begun - o)
                        begun = now;
                    }
                    float16 v[VECTORS];
                    EACH(b, VECTORS) {
                        FETCH_AHEAD(from + ahead + 16 * b, 0, 2);
                        v[b] = *(__global const unaligned16 *)(from + 16 * b - beyond[b]);
                    }
                    ADD(part, DOWN, VECTORS, weights_y + (size_t)j * DOWN, v)
                }
                if (until > end) break;
                if (o >= y0) {
                    int m = (o - y0) % RING;
                    EACH(b, VECTORS) {
                        float16 sum = o < before ? kept[o % DOWN * (chunk / 16) + b] + part[0][b] : part[0][b];
                        own[m / 16 * chunk + m % 16 + 16 * b] = beyond[b] ? moved(sum, beyond[b]) : sum;
                    }
                }
                MOVE_UP(part, DOWN, VECTORS)
            }
            EACH(k, DOWN) {
                __local float16 *sum = kept + (o + k) % DOWN * (chunk / 16);
                EACH(b, VECTORS) sum[b] = o + k < before ? sum[b] + part[k][b] : part[k][b];
            }
        }
        p = end, oldest = o, before = begun;
        for (; o - written >= 16 || (o == y1 && written < y1); written += 16) {
            __local float16 *block = ring + (written - y0) % RING / 16 * chunk;
            for (int f = 0; f < wide; f += 16) {
                float16 low[8], high[8];
                columns_of(block + f, 0, low);
                columns_of(block + f, 8, high);
                EACH(l, 8) block[f + l] = low[l], block[f + 8 + l] = high[l];
            }
            float16 part[ACROSS][1];
            BEGIN(part, ACROSS, 1, 0)
            for (int j = left, i = events_x[left].x, under_way = i; i < x1; i++) {
                for (int until = spans_x[i].x + spans_x[i].y; j < until; j++) {
                    int now = events_x[j].y;
                    if (under_way < now) {
                        BEGIN(part, ACROSS, 1, under_way - i)
                        under_way = now;
                    }
                    float16 v = block[j - left];
                    ADD(part, ACROSS, 1, weights_x + (size_t)j * ACROSS, &v)
                }
                if (i >= x0) sums[i - x0] = part[0][0];
                MOVE_UP(part, ACROSS, 1)
            }
            for (int f = 0; f < x1 - x0; f += 16)
                for (int h = 0; h < min(16, y1 - written); h += 8) {
                    float16 eight[8];
                    columns_of(sums + f, h, eight);
                    EACH(m, 8)
                        if (written + h + m < y1)
                            store_sixteen(eight[m], out + (size_t)(written + h + m - first) * columns + x0 + f,
                                          x1 - x0 - f, 0, 0);
                }
        }
    }
}
