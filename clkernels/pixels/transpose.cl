// out[x, y] = in[y, x], in tiles of TILE × TILE, one for each group. Planes are float (plane, row, column); dimension 2
// counts planes. With `down` the rows of `in` are taken from the last to the first. With `across` its columns are, so
// that the rows of `out` are written from the last to the first. Either way a row's values are read and written in order.
//
// -D TILE=n   is the tile's width and height, on GPUs, for groups of any size
// -D WIDE     is for CPUs: groups of one work-item, and TILE is 16

#ifdef WIDE
#define TILE 16
#define UNROLLED __attribute__((opencl_unroll_hint))

// Transposes 16 rows of 16 values in four such steps. A step riffles the 256 values like cards, the second half into
// the first, which rotates the eight binary digits of each place by one; after four, row and column have changed
// places.
static inline void shuffle_rows(float16 *rows) {
    float16 next[TILE];
    UNROLLED
    for (int k = 0; k < TILE / 2; k++) {
        float16 a = rows[k], b = rows[k + TILE / 2];
        next[2 * k] = (float16)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7);
        next[2 * k + 1] =
            (float16)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc, b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf);
    }
    UNROLLED
    for (int k = 0; k < TILE; k++) rows[k] = next[k];
}
#endif

__kernel void transpose(__global const float *in, __global float *out, int height, int width, int across, int down) {
    int x0 = get_group_id(0) * TILE, y0 = get_group_id(1) * TILE;
    in += get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)height * width;
    // The first row of each, and the way to the next one.
    long in_step = down ? -width : width, out_step = across ? -height : height;
    if (down) in += (size_t)(height - 1) * width;
    if (across) out += (size_t)(width - 1) * height;
#ifdef WIDE
    if (x0 + TILE <= width && y0 + TILE <= height) {
        float16 rows[TILE];
        UNROLLED
        for (int y = 0; y < TILE; y++) rows[y] = vload16(0, in + (y0 + y) * in_step + x0);
        for (int turn = 0; turn < 4; turn++) shuffle_rows(rows);
        UNROLLED
        for (int x = 0; x < TILE; x++) vstore16(rows[x], 0, out + (x0 + x) * out_step + y0);
        return;
    }
    for (int x = x0; x < min(x0 + TILE, width); x++)
        for (int y = y0; y < min(y0 + TILE, height); y++) out[x * out_step + y] = in[y * in_step + x];
#else
    __local float tile[TILE][TILE + 1];  // the extra column puts a column's values into different banks
    int i = get_local_id(0), j = get_local_id(1), wide = min(TILE, width - x0), high = min(TILE, height - y0);
    for (int y = j; y < high; y += get_local_size(1))
        for (int x = i; x < wide; x += get_local_size(0)) tile[y][x] = in[(y0 + y) * in_step + x0 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int x = j; x < wide; x += get_local_size(1))
        for (int y = i; y < high; y += get_local_size(0)) out[(x0 + x) * out_step + y0 + y] = tile[y][x];
#endif
}
