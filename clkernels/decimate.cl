// A blur's way to a coarse grid: a short window, of TAPS coarse samples around each fine one, and decimation. Of an axis
// (gpuops/coarse.py):
//   fine sample f (from `low` on, so that what stands beyond the edges is a sample like others) meets the coarse samples
//   base(f) … base(f) + TAPS − 1, and base never falls: those of base b are starts[b + TAPS − 1] … starts[b + TAPS] − 1.
// Down a column the TAPS sums that the row at hand belongs to are in registers; rows are taken together from local memory.
// weights_y[(b + TAPS − 1) · MOST · TAPS + q · TAPS + k]: of the q-th fine row of base b in coarse row b + k; weights_x[q ·
// columns + i]: of the q-th fine column that coarse column i is made of.
// From planar float (plane, row, column), of which dimension 2 counts planes, or from a file's pixels, of which it counts
// nothing; to planar float. After window.cl. Border: see border.cl. CPUs: decimate_wide.cl.
//
// -D BORDER_x   -D TAPS_Y=n -D TAPS_X=n   1: this axis stays as it is
// -D ITEMS=n    of a group        -D COLUMNS=n   fine ones of a work-item
// -D ROWS=n     coarse rows that are in local memory together, of 4s
// -D MOST=n     fine rows of one base, at most;   -D WIDEST=n   fine columns of a coarse one, at most
// -D PIXEL=type -D CHANNELS=n …   from pixels: after decode.cl;   -D CODES=n   its table is copied to local memory

#define TILE (ITEMS * COLUMNS)
#define PITCH (TILE + TILE / 8 + 1)
#define FOURS (ROWS / 4)
#define AT(x) ((x) + (x) / 8)  // neighbouring coarse columns' samples in different banks

#ifndef PIXEL
#define PIXEL float
#define CHANNELS 1
static inline void decode(const float *pixel, __global const float *table, float scale, float *v) {
    *v = *pixel;
}
#endif

// MOST rows from one on, of the work-item's columns x; what is outside is not used.
static inline void fetch_rows(__global const PIXEL *in, int row, const int *x, int height, int width,
                              PIXEL v[MOST][COLUMNS][CHANNELS]) {
    int inside = row >= 0 && row + MOST <= height;
    UNROLLED
    for (int q = 0; q < MOST; q++) {
        int at = inside ? row + q : max(0, border_index(row + q, height));
        UNROLLED
        for (int c = 0; c < COLUMNS; c++)
            UNROLLED
            for (int k = 0; k < CHANNELS; k++) v[q][c][k] = in[((size_t)at * width + max(0, x[c])) * CHANNELS + k];
    }
}

// Group: (ITEMS, 1, 1), for `most` coarse columns, made of TILE fine ones, and `band` coarse rows.
__kernel void decimate(__global const PIXEL *restrict in, __global float *restrict out,
                       __global const int *restrict starts_y, __global const float *restrict weights_y,
                       __global const int *restrict starts_x, __global const float *restrict weights_x, int height,
                       int width, int low_y, int low_x, int rows, int columns, int most, int band, float cval,
                       __global const float *restrict table, float scale, __local float2 *weights) {
    __local float4 lines[CHANNELS * FOURS * PITCH];  // of each fine column, four coarse rows
    int item = get_local_id(0), i0 = get_group_id(0) * most, j0 = get_group_id(1) * band, x0 = starts_x[i0];
    int j1 = min(j0 + band, rows), y = starts_y[j0], x[COLUMNS];
#ifdef CODES
    __local float codes[CODES];
    for (int k = item; k < CODES; k += ITEMS) codes[k] = table[k];
#else
#define codes table
#endif
    copy_weights(weights, weights_y, j0, j1 - j0 + TAPS_Y - 1);
    in += get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)rows * columns;
    PIXEL pixels[MOST][COLUMNS][CHANNELS];
    float sums[TAPS_Y][COLUMNS][CHANNELS];
    UNROLLED
    for (int c = 0; c < COLUMNS; c++) {
        x[c] = border_index(x0 + low_x + item + c * ITEMS, width);
        UNROLLED
        for (int k = 0; k < TAPS_Y * CHANNELS; k++) sums[k / CHANNELS][c][k % CHANNELS] = 0.0f;
    }
    fetch_rows(in, y + low_y, x, height, width, pixels);
    for (int j = j0 - TAPS_Y + 1; j < j1; j++) {
        int end = starts_y[j + TAPS_Y], r = j - j0;
        UNROLLED
        for (int q = 0; q < MOST; q++) {
            float w[TAPS_Y];
            weights_of(w, weights, r + TAPS_Y - 1, q);
            UNROLLED
            for (int c = 0; c < COLUMNS; c++) {
                float v[CHANNELS];
                decode(pixels[q][c], codes, scale, v);
                UNROLLED
                for (int k = 0; k < CHANNELS; k++) {
#ifdef BORDER_CONSTANT
                    if (x[c] < 0 || y + q + low_y < 0 || y + q + low_y >= height) v[k] = cval;
#endif
                    UNROLLED
                    for (int t = 0; t < TAPS_Y; t++) sums[t][c][k] = fma(w[t], v[k], sums[t][c][k]);
                }
            }
        }
        y = end;
        if (j + 1 < j1) fetch_rows(in, y + low_y, x, height, width, pixels);  // on their way while the rest is done
        UNROLLED
        for (int c = 0; c < COLUMNS; c++)
            UNROLLED
            for (int k = 0; k < CHANNELS; k++) {
                int line = (k * FOURS + r % ROWS / 4) * PITCH;
                if (r >= 0) ((__local float *)(lines + line + AT(item + c * ITEMS)))[r % 4] = sums[0][c][k];
                UNROLLED
                for (int t = 1; t < TAPS_Y; t++) sums[t - 1][c][k] = sums[t][c][k];
                sums[TAPS_Y - 1][c][k] = 0.0f;
            }
        if (r < 0 || (r % ROWS != ROWS - 1 && j != j1 - 1)) continue;
        barrier(CLK_LOCAL_MEM_FENCE);
        int first = j - r % ROWS;  // of the rows in local memory
        for (int t = item; t < most * CHANNELS; t += ITEMS) {  // a coarse column of a channel
            int i = i0 + t % most, k = t / most;
            if (i >= columns) continue;
            int f = starts_x[i] - x0, last = starts_x[i + TAPS_X] - x0 - 1;
            float4 sum[FOURS];
            UNROLLED
            for (int four = 0; four < FOURS; four++) sum[four] = 0.0f;
            UNROLLED
            for (int q = 0; q < WIDEST; q++) {  // weights beyond the last sample are 0; there it is met again
                float w = weights_x[(uint)(q * columns + i)];
                __local const float4 *at = lines + k * FOURS * PITCH + AT(min(f + q, last));
                UNROLLED
                for (int four = 0; four < FOURS; four++) sum[four] = fma((float4)w, at[four * PITCH], sum[four]);
            }
            UNROLLED
            for (int four = 0; four < FOURS; four++) {
                int count = j - first - four * 4;
                __global float *to = out + ((size_t)k * rows + first + four * 4) * columns + i;
                if (count >= 0) to[0] = sum[four].x;
                if (count >= 1) to[columns] = sum[four].y;
                if (count >= 2) to[2 * (size_t)columns] = sum[four].z;
                if (count >= 3) to[3 * (size_t)columns] = sum[four].w;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
