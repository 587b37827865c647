// A blur's way to a coarse grid: a short window, TAPS coarse samples wide around each fine sample, and decimation.
// Along an axis (gpuops/filters/coarse.py):
//   fine sample f (counted from `low` on, so that samples beyond the edges are like others) contributes to the coarse
//   samples base(f) … base(f) + TAPS − 1, and base never falls: the fine samples of base b are starts[b + TAPS − 1] …
//   starts[b + TAPS] − 1.
// Down a column, the TAPS sums to which the current row contributes are in registers; rows are summed from local
// memory. weights_y[(b + TAPS − 1) · MOST · TAPS + q · TAPS + k] is the weight of base b's q-th fine row in coarse row
// b + k; weights_x[q · columns + i] is the weight of the q-th fine column of coarse column i.
// Input and output are planar float (plane, row, column), where dimension 2 counts planes. A work-item owns four
// neighbouring values of a row. The file stands after fours.cl and coarse_weights.cl. The border is as in border.cl.
// CPUs use decimate_wide.cl.
//
// -D BORDER_x
// -D TAPS_Y=n -D TAPS_X=n   are the window's taps; 1 leaves the axis as it is
// -D ITEMS=n    is the number of work-items of a group
// -D ROWS=n     is the number of coarse rows that are in local memory together
// -D MOST=n     is the largest number of fine rows of one base
// -D WIDEST=n   is the largest number of fine columns of a coarse column
// -D SPACED     coarse columns are an even number of values apart

#define TILE (ITEMS * 4)  // values of a row that a group sums
#ifdef SPACED
#define AT(p) ((p) + (p) / 32 * 4)  // puts neighbouring coarse columns' values into different banks
#else
#define AT(p) (p)
#endif
#define PITCH AT(TILE)

// Loads four values of a row from the places `at`, which are neighbours where rows begin at multiples of four.
static inline float4 four_at(__global const float *row, const int *at) {
#ifdef ALIGNED
    return *(__global const float4 *)(row + at[0]);
#else
    return (float4)(row[at[0]], row[at[1]], row[at[2]], row[at[3]]);
#endif
}

// Fetches MOST rows from `row` on, across edges as the border says; for the constant it fetches row 0, unused.
static inline void fetch_rows(__global const float *in, int row, const int *at, int height, int width, float4 v[MOST]) {
    if (row >= 0 && row + MOST <= height) {
        in += row * (size_t)width;
        UNROLLED
        for (int q = 0; q < MOST; q++, in += width) v[q] = four_at(in, at);
    } else {
        UNROLLED
        for (int q = 0; q < MOST; q++) v[q] = four_at(in + max(0, border_index(row + q, height)) * (size_t)width, at);
    }
}

// Group: (ITEMS, 1, 1), for `most` coarse columns, made of TILE values, and `band` coarse rows. The last group of a row
// begins early enough to be as wide as the others. So values beyond an edge can be copied from those of their group;
// where rows wrap, they are read from the other end.
__kernel void decimate(__global const float *restrict in, __global float *restrict out,
                       __global const int *restrict starts_y, __global const float *restrict weights_y,
                       __global const int *restrict starts_x, __global const float *restrict weights_x, int height,
                       int width, int low_y, int low_x, int rows, int columns, int most, int band, float cval,
                       __local float2 *weights) {
    __local float4 lines[ROWS * PITCH / 4];
    int item = get_local_id(0), own = get_group_id(0) * most, i0 = max(0, min(own, columns - most));
    int j0 = get_group_id(1) * band, j1 = min(j0 + band, rows);
    int start = (starts_x[i0] + low_x) & ~3;  // the group's first value, a multiple of four
    int inside = start >= 0 && start + TILE <= width, at[4];
    UNROLLED
    for (int c = 0; c < 4; c++) {
        int p = start + item * 4 + c;
#if defined(BORDER_WRAP) || defined(BORDER_WRAP_X)
        p %= width;
        at[c] = p < 0 ? p + width : p;
#elif defined(ALIGNED)
        at[c] = clamp(p, c, width - 4 + c);
#else
        at[c] = clamp(p, 0, width - 1);
#endif
    }
    copy_weights(weights, weights_y, j0, j1 - j0 + TAPS_Y - 1);
    in += get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)rows * columns;
    int y = starts_y[j0] + low_y, end = starts_y[j0 + 1] + low_y;
    float4 next[MOST], sums[TAPS_Y];
    UNROLLED
    for (int k = 0; k < TAPS_Y; k++) sums[k] = 0.0f;
    fetch_rows(in, y, at, height, width, next);
    for (int j = j0 - TAPS_Y + 1; j < j1; j++) {
        int r = j - j0, here = y;
        float4 these[MOST];
        UNROLLED
        for (int q = 0; q < MOST; q++) these[q] = next[q];
        y = end;
        end = starts_y[min(j + TAPS_Y + 1, rows + TAPS_Y - 1)] + low_y;
        if (j + 1 < j1) fetch_rows(in, y, at, height, width, next);  // arrives while these rows are summed
        UNROLLED
        for (int q = 0; q < MOST; q++) {
            float w[TAPS_Y];
            float4 row = these[q];
#ifdef BORDER_CONSTANT
            if (here + q < 0 || here + q >= height) row = cval;
#endif
            weights_of(w, weights, r + TAPS_Y - 1, q);
            UNROLLED
            for (int t = 0; t < TAPS_Y; t++) sums[t] = fma((float4)w[t], row, sums[t]);
        }
        if (r >= 0) lines[r % ROWS * (PITCH / 4) + AT(item * 4) / 4] = sums[0];
        UNROLLED
        for (int t = 1; t < TAPS_Y; t++) sums[t - 1] = sums[t];
        sums[TAPS_Y - 1] = 0.0f;
        if (r < 0 || (r % ROWS != ROWS - 1 && j != j1 - 1)) continue;
        barrier(CLK_LOCAL_MEM_FENCE);
        __local float *values = (__local float *)lines;
#if !defined(BORDER_WRAP) && !defined(BORDER_WRAP_X)
        if (!inside) {  // fill in the values beyond the edges
            for (int c = 0; c < 4; c++) {
                int x = start + item * 4 + c, within = border_column(x, width), from = within - start;
                if (x >= 0 && x < width) continue;
                if (within >= 0 && (from < 0 || from >= TILE)) continue;  // its weight is 0
                for (int s = 0; s < ROWS; s++)
                    values[s * PITCH + AT(item * 4 + c)] = within < 0 ? cval : values[s * PITCH + AT(from)];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
#endif
        for (int i = i0 + item; i < min(i0 + most, columns); i += ITEMS) {  // for each coarse column
            if (i < own) continue;
            int from = starts_x[i] + low_x - start;
            float column[ROWS];
            UNROLLED
            for (int s = 0; s < ROWS; s++) column[s] = 0.0f;
            UNROLLED
            for (int q = 0; q < WIDEST; q++) {
                float w = weights_x[(uint)(q * columns + i)];
                UNROLLED
                for (int s = 0; s < ROWS; s++)
                    column[s] = fma(w, values[s * PITCH + AT(from + q)], column[s]);
            }
            __global float *to = out + (size_t)(j - r % ROWS) * columns + i;
            UNROLLED
            for (int s = 0; s < ROWS; s++)
                if (s <= r % ROWS) to[(size_t)s * columns] = column[s];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
