// The interpolation of interpolate.cl for steps that are whole numbers and divide the image, four columns along rows:
// the way back from the grid of decimate_cells.cl. The cell of the STEP fine samples from first + STEP · u on lies
// between the coarse samples u − TAPS + 1 … u:
//   its q-th sample = Σ_k UP[TAPS · q + k] · coarse sample u − TAPS + 1 + k.
// Input is planar float (plane, row, column); output is planar, where dimension 2 counts planes, or a file's pixels. A
// work-item owns the four fine columns around a coarse one: the halves of two cells, of which the left cell begins one
// coarse column earlier. The file stands after fours.cl, encode_four.cl and the weights (Grids.cells).
//
// -D BORDER_x
// -D TAPS=n     is the number of the window's taps
// -D STEP_Y=n -D STEP_X=4   are the steps
// -D MARGIN_X=n is the number of coarse columns left of the image
// -D ITEMS=n    is the number of work-items of a group; its outermost TAPS / 2 at each end only lend their coarse
//               columns
// -D PIXEL=type …   is for a file's pixels: as in encode.cl, which stands before; CHANNELS are a pixel's where there is
//                   alpha (2 or 4), else 4
// -D CODES=n    is the size of encode.cl's table, which goes to local memory

#define LENT (TAPS / 2)             // work-items at each end that only lend their coarse columns
#define LINE (INTERLEAVED * ITEMS)  // values of a row in local memory

static inline void fetch_row(__global const float *in, int j, int rows, int columns, float v[INTERLEAVED]) {
    in += (size_t)(uint)max(0, border_index(j, rows)) * (uint)columns;
    UNROLLED
    for (int c = 0; c < INTERLEAVED; c++, in += (size_t)(uint)rows * (uint)columns) v[c] = *in;
}

// A group goes down its columns, a cell's rows at a time. Along y, each work-item has all it needs in registers; along
// x, it reads its neighbours' values from local memory.
// Group: (ITEMS, 1, 1), for ITEMS − TAPS cells and `band` rows of cells, from `top` on. `lost` is as in encode.cl.
__kernel void interpolate_cells(__global const float *restrict in, __global PIXEL *restrict out, int height, int width,
                                int first_y, int rows, int columns, int top, int bottom, int band,
                                __global const uint *restrict table, __global uint *lost) {
    __local float lines[2 * STEP_Y * LINE];
    int item = get_local_id(0), cell = get_group_id(0) * (ITEMS - 2 * LENT) + item - LENT, losses[2] = {0, 0};
    int makes = item >= LENT && item < ITEMS - LENT && cell < width / STEP_X, near = clamp(item, LENT, ITEMS - LENT - 1) - LENT;
    int u = top + (int)get_global_id(1) * band, last = min(u + band, bottom), pitch = width * INTERLEAVED;
    in += get_global_id(2) * (size_t)rows * columns + max(0, border_column(cell + MARGIN_X, columns));
    out += get_global_id(2) * (size_t)height * width;
#ifdef CODES
    __local uint codes[CODES];
    for (int k = item; k < CODES; k += ITEMS) codes[k] = table[k];
#else
    __local uint *codes = 0;
#endif
    float column[TAPS][INTERLEAVED], ahead[INTERLEAVED];
    UNROLLED
    for (int k = 1; k < TAPS; k++) fetch_row(in, u - TAPS + k, rows, columns, column[k]);
    fetch_row(in, u, rows, columns, ahead);
    for (; u < last; u++) {
        __local float *cells = lines + (u & 1) * STEP_Y * LINE;
        UNROLLED
        for (int c = 0; c < INTERLEAVED; c++) {
            UNROLLED
            for (int k = 1; k < TAPS; k++) column[k - 1][c] = column[k][c];
            column[TAPS - 1][c] = ahead[c];
            UNROLLED
            for (int q = 0; q < STEP_Y; q++) {
                float v = 0.0f;
                UNROLLED
                for (int k = 0; k < TAPS; k++) v = fma(UP_Y[TAPS * q + k], column[k][c], v);
                cells[q * LINE + c * ITEMS + item] = v;
            }
        }
        if (u + 1 < last) fetch_row(in, u + 1, rows, columns, ahead);  // arrives during the work below
        barrier(CLK_LOCAL_MEM_FENCE);
        if (!makes) continue;
        int y0 = first_y + u * STEP_Y;
        ROLLED
        for (int q = max(0, -y0); q < min(STEP_Y, height - y0); q++) {
            __local const float *line = cells + q * LINE + near;
            __global Raw *to = (__global Raw *)(out + (size_t)(uint)(y0 + q) * (uint)pitch + cell * STEP_X * INTERLEAVED);
            float v[STEP_X * INTERLEAVED];
            UNROLLED
            for (int c = 0; c < INTERLEAVED; c++) {
                float n[TAPS + 1];
                UNROLLED
                for (int k = 0; k < TAPS + 1; k++) n[k] = line[c * ITEMS + k];
                UNROLLED
                for (int x = 0; x < STEP_X; x++) {
                    int right = x >= STEP_X / 2, p = (x + STEP_X / 2) % STEP_X;
                    float sum = 0.0f;
                    UNROLLED
                    for (int k = 0; k < TAPS; k++) sum = fma(UP_X[TAPS * p + k], n[k + right], sum);
                    v[x * INTERLEAVED + c] = sum;
                }
            }
            UNROLLED
            for (int k = 0; k < INTERLEAVED; k++) to[k] = encode_four(v + 4 * k, codes, 4, losses);
        }
    }
    for (int k = 0; k < 2; k++)
        if (losses[k]) atomic_add(&lost[k], (uint)losses[k]);
}
