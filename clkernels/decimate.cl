// A blur's way to a coarse grid: a short window, of TAPS coarse samples around each fine one, and decimation. Of an axis
// (gpuops/coarse.py):
//   fine sample f (from `low` on, so that what stands beyond the edges is a sample like others) meets the coarse samples
//   base(f) … base(f) + TAPS − 1, and base never falls: those of base b are starts[b + TAPS − 1] … starts[b + TAPS] − 1.
// Down a column the TAPS sums that the row at hand belongs to are in registers; rows are taken together from local memory.
// weights_y[(b + TAPS − 1) · MOST · TAPS + q · TAPS + k]: of the q-th fine row of base b in coarse row b + k; weights_x[q ·
// columns + i]: of the q-th fine column that coarse column i is made of.
// From planar float (plane, row, column), of which dimension 2 counts planes, or from a file's pixels, of which it counts
// nothing; to planar float. A work-item owns four neighbouring values of a row, whatever channels these are: down the
// columns all are alike. After fours.cl and window.cl. Border: see border.cl. CPUs: decimate_wide.cl.
//
// -D BORDER_x   -D TAPS_Y=n -D TAPS_X=n   1: this axis stays as it is
// -D ITEMS=n    of a group        -D ROWS=n   coarse rows that are in local memory together
// -D MOST=n     fine rows of one base, at most;   -D WIDEST=n   fine columns of a coarse one, at most
// -D PIXEL=type …   from pixels: after decode.cl, whose CHANNELS are a pixel's where there is alpha (2 or 4), else 4;
// -D CODES=n        its table is copied to local memory, SPREAD times

#define TILE (ITEMS * 4)                 // values of a row
#define AT(p) ((p) + (p) / 32 * 4)       // neighbouring coarse columns' values in different banks
#define PITCH AT(TILE)

#ifdef PLANAR
static inline void decode(const float *values, __global const float *table, float scale, float *v) {
    for (int c = 0; c < 4; c++) v[c] = values[c];
}
#endif

static inline int floor_div(int a, int b) { return a / b - (a % b < 0); }

// MOST rows from one on, of values that are at[…] in a row, or, if `inside`, neighbours; what is outside is not used.
static inline void fetch_rows(__global const PIXEL *in, int row, const int *at, int inside, int height, int pitch,
                              RAW v[MOST]) {
    int rows_inside = row >= 0 && row + MOST <= height;
    if (inside && rows_inside) {
        __global const PIXEL *from = in + (size_t)row * pitch + at[0];
        UNROLLED
        for (int q = 0; q < MOST; q++) v[q] = load_four(from + q * (size_t)pitch);
        return;
    }
    UNROLLED
    for (int q = 0; q < MOST; q++) {
        __global const PIXEL *from = in + (size_t)(rows_inside ? row + q : max(0, border_index(row + q, height))) * pitch;
        v[q] = AS_RAW((Four)(from[max(0, at[0])], from[max(0, at[1])], from[max(0, at[2])], from[max(0, at[3])]));
    }
}

// Group: (ITEMS, 1, 1), for `most` coarse columns, made of TILE values, and `band` coarse rows.
__kernel void decimate(__global const PIXEL *restrict in, __global float *restrict out,
                       __global const int *restrict starts_y, __global const float *restrict weights_y,
                       __global const int *restrict starts_x, __global const float *restrict weights_x, int height,
                       int width, int low_y, int low_x, int rows, int columns, int most, int band, float cval,
                       __global const float *restrict table, float scale, __local float2 *weights) {
    __local float4 lines[ROWS * PITCH / 4];
    int item = get_local_id(0), i0 = get_group_id(0) * most, j0 = get_group_id(1) * band, x0 = starts_x[i0];
    int j1 = min(j0 + band, rows), y = starts_y[j0];
    int first = (x0 + low_x) * INTERLEAVED, start = first & ~3;  // of the group's values, in their row
#ifdef CODES
    __local float copies[CODES * SPREAD];
    for (int k = item; k < CODES * SPREAD; k += ITEMS) copies[k] = table[k / SPREAD];
    __local const float *codes = copies + item % SPREAD;  // neighbours look up in different banks
#else
#define codes table
#endif
    copy_weights(weights, weights_y, j0, j1 - j0 + TAPS_Y - 1);
    in += get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)rows * columns;
    int at[4], pitch = width * INTERLEAVED, inside = start >= 0 && start + TILE <= pitch;
    UNROLLED
    for (int c = 0; c < 4; c++) {
        int p = start + item * 4 + c, x = floor_div(p, INTERLEAVED), within = border_index(x, width);
        at[c] = within < 0 ? -1 : p + (within - x) * INTERLEAVED;
    }
    RAW next[MOST];
    float4 sums[TAPS_Y];
    UNROLLED
    for (int k = 0; k < TAPS_Y; k++) sums[k] = 0.0f;
    fetch_rows(in, y + low_y, at, inside, height, pitch, next);
    for (int j = j0 - TAPS_Y + 1; j < j1; j++) {
        int r = j - j0;
        RAW these[MOST];
        UNROLLED
        for (int q = 0; q < MOST; q++) these[q] = next[q];
#ifdef BORDER_CONSTANT
        int here = y + low_y;
#endif
        y = starts_y[j + TAPS_Y];
        if (j + 1 < j1) fetch_rows(in, y + low_y, at, inside, height, pitch, next);  // while these are summed
        UNROLLED
        for (int q = 0; q < MOST; q++) {
            PIXEL four[4];
            float w[TAPS_Y], v[4];
            vstore4(AS_FOUR(these[q]), 0, four);
            UNROLLED
            for (int c = 0; c < 4; c += CHANNELS) decode(four + c, codes, scale, v + c);
#ifdef BORDER_CONSTANT
            UNROLLED
            for (int c = 0; c < 4; c++)
                if (at[c] < 0 || here + q < 0 || here + q >= height) v[c] = cval;
#endif
            weights_of(w, weights, r + TAPS_Y - 1, q);
            UNROLLED
            for (int t = 0; t < TAPS_Y; t++) sums[t] = fma((float4)w[t], (float4)(v[0], v[1], v[2], v[3]), sums[t]);
        }
        if (r >= 0) lines[(r % ROWS * PITCH + AT(item * 4)) / 4] = sums[0];
        UNROLLED
        for (int t = 1; t < TAPS_Y; t++) sums[t - 1] = sums[t];
        sums[TAPS_Y - 1] = 0.0f;
        if (r < 0 || (r % ROWS != ROWS - 1 && j != j1 - 1)) continue;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int t = item; t < most * INTERLEAVED; t += ITEMS) {  // a coarse column of a channel
            int i = i0 + t % most, k = t / most;
            if (i >= columns) continue;
            int f = first - start + k + (starts_x[i] - x0) * INTERLEAVED;
            int last = first - start + k + (starts_x[i + TAPS_X] - 1 - x0) * INTERLEAVED;
            float sum[ROWS];
            UNROLLED
            for (int s = 0; s < ROWS; s++) sum[s] = 0.0f;
            UNROLLED
            for (int q = 0; q < WIDEST; q++) {  // weights beyond the last value are 0; there it is met again
                float w = weights_x[(uint)(q * columns + i)];
                __local const float *value = (__local const float *)lines + AT(min(f + q * INTERLEAVED, last));
                UNROLLED
                for (int s = 0; s < ROWS; s++) sum[s] = fma(w, value[s * PITCH], sum[s]);
            }
            __global float *to = out + ((size_t)k * rows + j - r % ROWS) * columns + i;
            UNROLLED
            for (int s = 0; s < ROWS; s++)
                if (s <= r % ROWS) to[(size_t)s * columns] = sum[s];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
