// resize.cl for the vectors of a CPU, both axes at once: see there. After lanes.cl (WIDTH=8), store_sixteen.cl and
// block_columns.cl. An axis whose results are its samples, with one weight of 1 each, stays as it is.
//
// Down the columns, vectors are sixteen neighbouring samples of a row. Blocks of 16 × 16 results are transposed, so that
// along the rows vectors are sixteen rows of one column. All sums are sums of whole vectors.

#define RUN 64  // rows that are summed one after the other: such sums are summed again, so that rounding grows slower

// One load: PoCL makes vload16 of two, whose pieces its compiler may go on with one by one.
typedef float16 __attribute__((aligned(4))) unaligned16;

// to[16·b] = Σ_k w[k] · (16 samples of row k from 16·b on), b = 0 … blocks − 1 ≤ 3. `safe`: all of them are in the plane,
// which has `room` values from `from` on.
static inline __attribute__((always_inline)) void down(__global const float *from, long room, int pitch,
                                                       __global const float *w, int taps, int blocks, int safe,
                                                       __local float16 *to) {
    float16 sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k = 0; k < taps;) {
        float16 part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int end = min(k + RUN, taps); k < end; k++, from += pitch, room -= pitch) {
            UNROLLED
            for (int b = 0; b < blocks; b++) {
                float16 v;
                if (safe || room >= 16 * b + 16) {
                    v = *(__global const unaligned16 *)(from + 16 * b);
                } else {
                    float s[16];
                    for (int l = 0; l < 16; l++) s[l] = from[min((long)(16 * b + l), room - 1)];
                    v = vload16(0, s);
                }
                part[b] = fma((float16)w[k], v, part[b]);
            }
        }
        UNROLLED
        for (int b = 0; b < blocks; b++) sums[b] += part[b];
    }
    UNROLLED
    for (int b = 0; b < blocks; b++) to[16 * b] = sums[b];
}

// Global: (ceil(columns / strip), ceil(rows / band), planes), groups of one; strip, band and chunk are of 16s.
// block holds `chunk` columns of 16 rows each, sums those of `strip` results.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void resize_wide(__global const float *in, __global const int2 *spans_y, __global const float *weights_y,
                 __global const int2 *spans_x, __global const float *weights_x, __global float *out, int height, int width,
                 int rows, int columns, int most_y, int most_x, int strip, int band, int chunk, __local float16 *block,
                 __local float16 *sums) {
    int x0 = get_global_id(0) * strip, count = min(strip, columns - x0);
    int y0 = get_global_id(1) * band, y1 = min(y0 + band, rows);
    int2 last = spans_x[x0 + count - 1];
    int left = spans_x[x0].x, right = last.x + last.y;
    in += get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)rows * columns + x0;
    spans_x += x0;
    weights_x += (size_t)x0 * most_x;
    for (int y = y0; y < y1; y += 16) {
        for (int i = 0; i < count; i++) sums[i] = 0.0f;
        for (int c = left, i0 = 0; c < right; c += chunk) {
            int wide = min(chunk, right - c);
            for (int m = 0; m < 16; m++) {
                int2 span = spans_y[min(y + m, rows - 1)];
                __global const float *w = weights_y + (size_t)min(y + m, rows - 1) * most_y;
                size_t at = (size_t)span.x * width + c;
                long room = (long)height * width - at;
                int safe = room >= (span.y - 1) * (long)width + (wide + 15) / 16 * 16;
                for (int f = 0; f < wide;) {
                    if (safe && f + 48 < wide) {
                        down(in + at + f, 0, width, w, span.y, 4, 1, block + f + m);
                        f += 64;
                    } else if (safe) {
                        down(in + at + f, 0, width, w, span.y, 1, 1, block + f + m);
                        f += 16;
                    } else {
                        down(in + at + f, room - f, width, w, span.y, 1, 0, block + f + m);
                        f += 16;
                    }
                }
            }
            for (int f = 0; f < wide; f += 16) {
                float16 low[8], high[8];
                columns_of(block + f, 0, low);
                columns_of(block + f, 8, high);
                UNROLLED
                for (int l = 0; l < 8; l++) block[f + l] = low[l], block[f + 8 + l] = high[l];
            }
            for (int i = i0; i < count && spans_x[i].x < c + chunk; i++) {
                int2 span = spans_x[i];
                int from = max(span.x, c), to = min(span.x + span.y, c + chunk);
                __global const float *w = weights_x + (size_t)i * most_x + (from - span.x);
                float16 sum = 0.0f;
                for (int k = 0; k < to - from; k++) sum = fma((float16)w[k], block[from - c + k], sum);
                sums[i] += sum;
                if (span.x + span.y <= c + chunk) i0 = i + 1;
            }
        }
        for (int f = 0; f < count; f += 16)
            for (int h = 0; h < min(16, y1 - y); h += 8) {
                float16 eight[8];
                columns_of(sums + f, h, eight);
                UNROLLED
                for (int m = 0; m < 8; m++)
                    if (y + h + m < y1)
                        store_sixteen(eight[m], out + (size_t)(y + h + m) * columns + f, count - f, 0, 0);
            }
    }
}
