// decimate.cl where steps are whole and divide the image: into cells of STEP samples, all alike, so that weights are
// constants and nothing is looked up. Along an axis, from `first` on (below 0, as what is beyond the edges counts),
//   coarse sample c = Σ_q DOWN[q] · fine sample first + STEP · c + q,   q = 0 … TAPS · STEP − 1.
// Down a column the TAPS sums that a cell's rows belong to are in registers; rows are summed from local memory.
// From planar float (plane, row, column), of which dimension 2 counts planes, or from a file's pixels, of which it counts
// nothing; to planar float. A work-item owns four neighbouring values of a row, whatever channels these are. After
// fours.cl and the weights (Grids.cells). Border: see border.cl.
//
// -D BORDER_x   -D TAPS=n   -D STEP_Y=n -D STEP_X=n   multiples of 4
// -D ITEMS=n    of a group   -D CELLS=n   its coarse columns   -D ROWS=n   coarse rows in local memory: CELLS · ROWS ≤ ITEMS
// -D PIXEL=type …   from pixels: after decode.cl, whose CHANNELS are a pixel's where there is alpha (2 or 4), else 4;
// -D CODES=n    values of its table, which is copied to local memory

#define TILE (ITEMS * 4)                         // values of a row
#define ACROSS (STEP_X * INTERLEAVED)            // of a cell
#define BEFORE (STEP_X / 2 * INTERLEAVED % 4)    // in front of a group's first, so that they begin at a multiple of four
#define NOWHERE 0xffff

static inline void fetch_rows(__global const PIXEL *in, int row, int height, int pitch, Raw v[4]) {
    if (row >= 0 && row + 4 <= height) {
        in += (size_t)(uint)row * (uint)pitch;
        UNROLLED
        for (int q = 0; q < 4; q++, in += pitch) v[q] = load_four(in);
    } else {
        UNROLLED
        for (int q = 0; q < 4; q++) v[q] = load_four(in + (size_t)max(0, border_index(row + q, height)) * (uint)pitch);
    }
}

// Group: (ITEMS, 1, 1), for CELLS coarse columns and `band` coarse rows. The last group of a row begins early enough to be
// as wide as others: what stands beyond an edge is then among the values of its group, or, where rows wrap, read in its
// place.
__kernel void decimate_cells(__global const PIXEL *restrict in, __global float *restrict out, int height, int width,
                             int first_y, int first_x, int rows, int columns, int band, float cval,
                             __global const float *restrict table, float scale) {
    __local float4 lines[ROWS * ITEMS];
    int item = get_local_id(0), own = get_group_id(0) * CELLS, i0 = max(0, min(own, columns - CELLS));
    int j0 = get_group_id(1) * band, j1 = min(j0 + band, rows), pitch = width * INTERLEAVED;
    int start = (first_x + i0 * STEP_X) * INTERLEAVED - BEFORE, inside = start >= 0 && start + TILE <= pitch;
    int at = start + item * 4;
#if defined(BORDER_WRAP) || defined(BORDER_WRAP_X)
    at %= pitch;
    at = at < 0 ? at + pitch : at;
#else
    at = clamp(at, 0, pitch - 4);
    __local ushort from[TILE];  // where in the group stands what is beyond the edges in a place; each item reads its own
    int beyond = at != start + item * 4;  // with all four, as rows are whole words
    for (int c = 0; c < 4 && beyond; c++) {
        int p = start + item * 4 + c, x = (p + TILE * INTERLEAVED) / INTERLEAVED - TILE, within = border_column(x, width);
        int place = item * 4 + c + (within - x) * INTERLEAVED, away = place < 0 || place >= TILE;  // it weighs nothing
        from[item * 4 + c] = within < 0 ? NOWHERE : away ? item * 4 + c : place;
    }
#endif
    in += get_global_id(2) * (size_t)height * width + at;
    out += get_global_id(2) * (size_t)rows * columns;
#ifdef CODES
    __local float codes[CODES];
    for (int k = item; k < CODES; k += ITEMS) codes[k] = table[k];
    barrier(CLK_LOCAL_MEM_FENCE);
#else
#define codes table
#endif
    Raw these[4], next[4];
    float4 sums[TAPS];
    UNROLLED
    for (int k = 0; k < TAPS; k++) sums[k] = 0.0f;
    int y = first_y + j0 * STEP_Y;
    fetch_rows(in, y, height, pitch, next);
    for (int j = j0 - TAPS + 1; j < j1; j++) {  // a cell's rows, after which coarse row j is done
        UNROLLED
        for (int row = 0; row < STEP_Y; row++, y++) {
            if (row % 4 == 0) {
                UNROLLED
                for (int q = 0; q < 4; q++) these[q] = next[q];
                if (row + 4 < STEP_Y || j + 1 < j1) fetch_rows(in, y + 4, height, pitch, next);  // while these are summed
            }
            PIXEL four[4];
            float v[4];
            unpack_four(these[row % 4], four);
            UNROLLED
            for (int c = 0; c < 4; c += CHANNELS) decode(four + c, codes, scale, v + c);
            float4 values = vload4(0, v);
#ifdef BORDER_CONSTANT
            if (y < 0 || y >= height) values = cval;
#endif
            UNROLLED
            for (int t = 0; t < TAPS; t++) sums[t] = fma((float4)DOWN_Y[(TAPS - 1 - t) * STEP_Y + row], values, sums[t]);
        }
        int r = j - j0;
        if (r >= 0) lines[r % ROWS * ITEMS + item] = sums[0];
        UNROLLED
        for (int t = 1; t < TAPS; t++) sums[t - 1] = sums[t];
        sums[TAPS - 1] = 0.0f;
        if (r < 0 || (r % ROWS != ROWS - 1 && j != j1 - 1)) continue;
        barrier(CLK_LOCAL_MEM_FENCE);
#if !defined(BORDER_WRAP) && !defined(BORDER_WRAP_X)
        if (!inside) {  // what stands beyond the edges
            if (beyond) {
                UNROLLED
                for (int s = 0; s < ROWS; s++) {
                    __local const float *line = (__local const float *)(lines + s * ITEMS);
                    float four[4];
                    UNROLLED
                    for (int c = 0; c < 4; c++) {
                        int place = from[item * 4 + c];
                        four[c] = place == NOWHERE ? cval : line[place];
                    }
                    lines[s * ITEMS + item] = vload4(0, four);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
#endif
        int s = item / CELLS, cell = item % CELLS, i = i0 + cell;
        if (s <= r % ROWS && i >= own && i < columns) {  // a coarse sample of each channel
            __local const float4 *values = lines + s * ITEMS + cell * (ACROSS / 4);
            float sample[INTERLEAVED];
            UNROLLED
            for (int c = 0; c < INTERLEAVED; c++) sample[c] = 0.0f;
            UNROLLED
            for (int k = 0; k < (BEFORE + TAPS * ACROSS + 3) / 4; k++) {
                float four[4];
                vstore4(values[k], 0, four);
                UNROLLED
                for (int c = 0; c < 4; c++) {
                    int q = k * 4 + c - BEFORE;
                    if (q >= 0 && q < TAPS * ACROSS)
                        sample[q % INTERLEAVED] = fma(DOWN_X[q / INTERLEAVED], four[c], sample[q % INTERLEAVED]);
                }
            }
            __global float *to = out + (size_t)(uint)(j - r % ROWS + s) * (uint)columns + i;
            UNROLLED
            for (int c = 0; c < INTERLEAVED; c++, to += (size_t)(uint)rows * (uint)columns) *to = sample[c];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
