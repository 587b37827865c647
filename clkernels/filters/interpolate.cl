// A blur's way back from a coarse grid, by the window of decimate.cl. A column's TAPS coarse rows around the current
// row are interpolated along x once for all fine rows between them. weights_y is as in decimate.cl; bases_x[f] and
// weights_x[f · TAPS + k] are the base and the weights of fine column f, for those in the image.
// Input and output are planar float (plane, row, column), where dimension 2 counts planes. A work-item owns four
// neighbouring values of a row. The file stands after fours.cl and coarse_weights.cl. The border is as in border.cl.
// CPUs use interpolate_wide.cl.
//
// -D BORDER_x
// -D TAPS_Y=n -D TAPS_X=n   are the window's taps; 1 leaves the axis as it is
// -D ITEMS=n    is the number of work-items of a group
// -D SEGMENT=n  is the largest number of coarse columns of a group
// -D MOST=n     is the largest number of fine rows of one base
// -D ROWS=n     is the number of coarse rows that are in local memory together, a multiple of TAPS_Y

#define TILE (ITEMS * 4)                         // values of a row that a group makes
#define FETCHES ((SEGMENT + ITEMS - 1) / ITEMS)  // fetches of a work-item in a coarse row
#define LINE (FETCHES * ITEMS)                   // values of a coarse row in local memory

static inline void fetch_rows(__global const float *in, int j, const uint *at, int rows, int columns,
                              float v[ROWS][FETCHES]) {
    UNROLLED
    for (int r = 0; r < ROWS; r++) {
        __global const float *from = in + (size_t)max(0, border_index(j + r, rows)) * columns;
        UNROLLED
        for (int f = 0; f < FETCHES; f++) v[r][f] = from[at[f]];
    }
}

// A group goes down TILE values, ROWS coarse rows at a time; it fetches the next rows while it interpolates the last
// ones. Group: (ITEMS, 1, 1), for `band` bases of rows.
__kernel void interpolate(__global const float *restrict in, __global float *restrict out,
                          __global const int *restrict starts_y, __global const float *restrict weights_y,
                          __global const int *restrict bases_x, __global const float *restrict weights_x, int height,
                          int width, int low_y, int rows, int columns, int band, __local float2 *weights) {
    __local float lines[ROWS * LINE];
    int item = get_local_id(0), start = get_group_id(0) * TILE, i0 = bases_x[start];
    int b = (int)get_global_id(1) * band - (TAPS_Y - 1), last = min(b + band, rows) + TAPS_Y - 1;
    int p = start + item * 4;
    in += get_global_id(2) * (size_t)rows * columns;
    out += get_global_id(2) * (size_t)height * width + p;
    uint at[FETCHES];
    int from[4];
    float next[ROWS][FETCHES];
    float4 w[TAPS_X], samples[TAPS_Y];
    UNROLLED
    for (int f = 0; f < FETCHES; f++) at[f] = max(0, border_column(i0 + (item + f * ITEMS) % SEGMENT, columns));
    int x[4];
    UNROLLED
    for (int c = 0; c < 4; c++) {
        x[c] = min(p + c, width - 1);
        from[c] = bases_x[x[c]] - i0;
    }
    UNROLLED
    for (int t = 0; t < TAPS_X; t++)
        w[t] = (float4)(weights_x[x[0] * TAPS_X + t], weights_x[x[1] * TAPS_X + t], weights_x[x[2] * TAPS_X + t],
                        weights_x[x[3] * TAPS_X + t]);
    fetch_rows(in, b, at, rows, columns, next);
    copy_weights(weights, weights_y, b + TAPS_Y - 1, last - (TAPS_Y - 1) - b);
    for (int j = b; j < last; j += ROWS) {
        UNROLLED
        for (int r = 0; r < ROWS; r++)
            UNROLLED
            for (int f = 0; f < FETCHES; f++) lines[r * LINE + f * ITEMS + item] = next[r][f];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (j + ROWS < last) fetch_rows(in, j + ROWS, at, rows, columns, next);
        UNROLLED
        for (int r = 0; r < ROWS; r++) {
            __local const float *line = lines + r * LINE;
            float4 sample = 0.0f;
            UNROLLED
            for (int t = 0; t < TAPS_X; t++)
                sample = fma(w[t], (float4)(line[from[0] + t], line[from[1] + t], line[from[2] + t], line[from[3] + t]),
                             sample);
            samples[r % TAPS_Y] = sample;  // replaces the one TAPS_Y rows above
            int base = j + r - (TAPS_Y - 1);
            if (base < b || j + r >= last) continue;
            int first = starts_y[base + TAPS_Y - 1] + low_y, end = min(starts_y[base + TAPS_Y] + low_y, height);
            ROLLED
            for (int y = max(first, 0); y < end; y++) {
                float wy[TAPS_Y];
                weights_of(wy, weights, base - b, y - first);
                float4 sum = 0.0f;
                UNROLLED
                for (int t = 0; t < TAPS_Y; t++) sum = fma((float4)wy[t], samples[(r + 1 + t) % TAPS_Y], sum);
                store_four(sum, out + (size_t)y * width, width - p);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
