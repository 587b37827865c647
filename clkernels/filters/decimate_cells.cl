// The decimation of decimate.cl for steps that are whole numbers and divide the image. It consists of cells of STEP
// samples, all alike, so that weights are constants and no table is needed. Along an axis, from `first` on (which
// may lie beyond the edge),
//   coarse sample c = Σ_q DOWN[q] · fine sample first + STEP · c + q,   q = 0 … TAPS · STEP − 1.
// Down a column, the TAPS sums to which a cell's rows contribute are in registers; rows are summed from local memory.
// Input is planar float (plane, row, column), where dimension 2 counts planes, or a file's pixels; output is planar
// float. A work-item owns four neighbouring values of a row, whichever channels they belong to. The file stands after
// fours.cl and the weights (Grids.cells). The border is as in border.cl.
//
// -D BORDER_x
// -D TAPS=n     is the number of the window's taps
// -D STEP_Y=n -D STEP_X=n   are the steps, multiples of 4
// -D ITEMS=n    is the number of work-items of a group
// -D CELLS=n    is the number of its coarse columns
// -D ROWS=n     is the number of coarse rows in local memory; CELLS · ROWS ≤ ITEMS
// -D PIXEL=type …   is for a file's pixels: as in decode.cl, which stands before; CHANNELS are a pixel's where there is
//                   alpha (2 or 4), else 4
// -D CODES=n    is the size of decode.cl's table, which goes to local memory

#define TILE (ITEMS * 4)                         // values of a row that a group sums
#define ACROSS (STEP_X * INTERLEAVED)            // values of a row of a cell
#define BEFORE (STEP_X / 2 * INTERLEAVED % 4)    // values before a group's first cell; they align its reads to four
#define NOWHERE 0xffff                           // in place of a place: cval stands there

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

// Group: (ITEMS, 1, 1), for CELLS coarse columns and `band` coarse rows. The last group of a row begins early enough to
// be as wide as the others. So values beyond an edge can be copied from those of their group; where rows wrap, they are
// read from the other end.
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
    __local ushort from[TILE];  // the places of the values that stand beyond an edge; items read their own
    int beyond = at != start + item * 4;  // holds for all four values or for none, as rows are whole words
    for (int c = 0; c < 4 && beyond; c++) {
        int p = start + item * 4 + c, x = (p + TILE * INTERLEAVED) / INTERLEAVED - TILE, within = border_column(x, width);
        int place = item * 4 + c + (within - x) * INTERLEAVED, away = place < 0 || place >= TILE;  // away: weight 0
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
    for (int j = j0 - TAPS + 1; j < j1; j++) {  // sums a cell's rows, which completes coarse row j
        UNROLLED
        for (int row = 0; row < STEP_Y; row++, y++) {
            if (row % 4 == 0) {
                UNROLLED
                for (int q = 0; q < 4; q++) these[q] = next[q];
                if (row + 4 < STEP_Y || j + 1 < j1) fetch_rows(in, y + 4, height, pitch, next);  // during the sums
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
        if (!inside) {  // fill in the values beyond the edges
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
        if (s <= r % ROWS && i >= own && i < columns) {  // make a coarse sample of each channel
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
