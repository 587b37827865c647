// A blur's way back from a coarse grid, by the window of decimate.cl: see there.
// A column's TAPS coarse rows around the row at hand are interpolated along x once for all rows between them.
// weights_y as in decimate.cl; bases_x[f] and weights_x[f · TAPS + k] of fine column f, of those in the image.
// From planar float (plane, row, column), of which dimension 2 counts planes, to the same; or to a file's pixels, of
// which it counts nothing. After window.cl. Border: see border.cl. CPUs: interpolate_wide.cl.
//
// -D BORDER_x   -D TAPS_Y=n -D TAPS_X=n   1: this axis stays as it is
// -D ITEMS=n    of a group        -D COLUMNS=n   fine ones of a work-item
// -D ROWS=n     coarse rows that are in local memory together
// -D SEGMENT=n  coarse columns of a group, at most;   -D MOST=n   fine rows of one base, at most
// -D PIXEL=type -D CHANNELS=n …   to pixels: after encode.cl;   -D COLOURS=n -D UNPREMULTIPLY   as in pack.cl

#define TILE (ITEMS * COLUMNS)
#define FETCHES ((SEGMENT + ITEMS - 1) / ITEMS)  // of a work-item, in a coarse row
#define LINE (FETCHES * ITEMS)

#ifndef PIXEL
#define PIXEL float
#define CHANNELS 1
#define COLOURS 1
#define encode_pixel(v, steps, curve, present, lost, pixel) (*(pixel) = *(v))
#define REPEATED UNROLLED
#else
#define REPEATED __attribute__((opencl_unroll_hint(1)))  // encoding is long: instructions must stay in their cache
#endif

static inline void fetch_rows(__global const float *in, int j, const int *column, int rows, int columns,
                              float v[ROWS][CHANNELS][FETCHES]) {
    UNROLLED
    for (int r = 0; r < ROWS; r++) {
        int row = border_index(j + r, rows);
        UNROLLED
        for (int k = 0; k < CHANNELS; k++)
            UNROLLED
            for (int f = 0; f < FETCHES; f++) v[r][k][f] = in[((size_t)k * rows + row) * columns + column[f]];
    }
}

// A group goes down TILE fine columns, ROWS coarse rows at a time: these are fetched while those before are interpolated.
// Group: (ITEMS, 1, 1), for `band` bases of rows. lost: see encode.cl.
__kernel void interpolate(__global const float *restrict in, __global PIXEL *restrict out,
                          __global const int *restrict starts_y, __global const float *restrict weights_y,
                          __global const int *restrict bases_x, __global const float *restrict weights_x, int height,
                          int width, int low_y, int rows, int columns, int band, __global const float *restrict steps,
                          __global const float2 *restrict lines_of_curve, __global uint *lost, __local float2 *weights) {
    __local float lines[ROWS * CHANNELS * LINE];
    int item = get_local_id(0), x0 = get_group_id(0) * TILE, i0 = bases_x[x0], losses[2] = {0, 0};
    int b = (int)get_global_id(1) * band - (TAPS_Y - 1), last = min(b + band, rows) + TAPS_Y - 1;
    in += get_global_id(2) * (size_t)rows * columns;
    out += get_global_id(2) * (size_t)height * width + (x0 + item) * CHANNELS;
    int column[FETCHES], from[COLUMNS];
    float next[ROWS][CHANNELS][FETCHES], w[COLUMNS][TAPS_X], samples[TAPS_Y][COLUMNS][CHANNELS];
    UNROLLED
    for (int f = 0; f < FETCHES; f++) column[f] = max(0, border_index(i0 + item + f * ITEMS, columns));
    UNROLLED
    for (int c = 0; c < COLUMNS; c++) {
        int x = min(x0 + item + c * ITEMS, width - 1);
        from[c] = bases_x[x] - i0;
        UNROLLED
        for (int t = 0; t < TAPS_X; t++) w[c][t] = weights_x[x * TAPS_X + t];
    }
    fetch_rows(in, b, column, rows, columns, next);
#ifdef LINES
    __local float2 curve[LINES];
    for (int k = item; k < LINES; k += ITEMS) curve[k] = lines_of_curve[k];
#else
    __local float2 *curve = 0;
#endif
    copy_weights(weights, weights_y, b + TAPS_Y - 1, last - (TAPS_Y - 1) - b);
    int y = starts_y[b + TAPS_Y - 1] + low_y;
    for (int j = b; j < last; j += ROWS) {
        UNROLLED
        for (int r = 0; r < ROWS; r++)
            UNROLLED
            for (int k = 0; k < CHANNELS; k++)
                UNROLLED
                for (int f = 0; f < FETCHES; f++) lines[(r * CHANNELS + k) * LINE + f * ITEMS + item] = next[r][k][f];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (j + ROWS < last) fetch_rows(in, j + ROWS, column, rows, columns, next);
        REPEATED
        for (int r = 0; r < ROWS; r++) {
            UNROLLED
            for (int c = 0; c < COLUMNS; c++)
                UNROLLED
                for (int k = 0; k < CHANNELS; k++) {
                    float sum = 0.0f;
                    UNROLLED
                    for (int t = 0; t < TAPS_X; t++)
                        sum = fma(w[c][t], lines[(r * CHANNELS + k) * LINE + from[c] + t], sum);
                    UNROLLED
                    for (int t = 1; t < TAPS_Y; t++) samples[t - 1][c][k] = samples[t][c][k];
                    samples[TAPS_Y - 1][c][k] = sum;
                }
            int base = j + r - (TAPS_Y - 1);
            if (base < b || j + r >= last) continue;
            int end = min(starts_y[base + TAPS_Y] + low_y, height);
            REPEATED
            for (int q = 0; q < MOST; q++) {
                float v[TAPS_Y];
                weights_of(v, weights, base - b, q);
                int within = y + q >= 0 && y + q < end;
                UNROLLED
                for (int c = 0; c < COLUMNS; c++) {
                    float sums[CHANNELS];
                    int present = within && x0 + item + c * ITEMS < width;
                    UNROLLED
                    for (int k = 0; k < CHANNELS; k++) {
                        sums[k] = 0.0f;
                        UNROLLED
                        for (int t = 0; t < TAPS_Y; t++) sums[k] = fma(v[t], samples[t][c][k], sums[k]);
                    }
#ifdef UNPREMULTIPLY
                    float over = sums[CHANNELS - 1] > 0.0f ? 1.0f / sums[CHANNELS - 1] : 1.0f;
                    for (int k = 0; k < COLOURS; k++) sums[k] *= over;
#endif
                    __global PIXEL *to = out + ((size_t)(y + q) * width + c * ITEMS) * CHANNELS;
                    PIXEL pixel[CHANNELS];
                    encode_pixel(sums, steps, curve, present, losses, pixel);
                    UNROLLED
                    for (int k = 0; k < CHANNELS; k++)
                        if (present) to[k] = pixel[k];
                }
            }
            y = starts_y[base + TAPS_Y] + low_y;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int k = 0; k < 2; k++)
        if (losses[k]) atomic_add(&lost[k], (uint)losses[k]);
}
