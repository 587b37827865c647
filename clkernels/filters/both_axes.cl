// A separable convolution along both axes at once, so that nothing in between goes through memory:
//   out[y, x] = Σ_l wy[l + ry] · Σ_k wx[k + rx] · in[y + l, x + k],  l = −ry…ry, k = −rx…rx.
// Input and output are planar float (plane, row, column), where dimension 2 counts planes from element `from` on. The
// file stands after fours.cl. The border is as in border.cl, with cval outside (constant). CPUs use both_axes_wide.cl.
//
// -D BORDER_x
// -D RADIUS_Y=n -D RADIUS_X=n   are the radii ry and rx
// -D ITEMS=n    is the number of work-items of a group
// -D ROWS=n     is the number of rows that are taken at a time

#define COLUMNS (ITEMS * 4)              // results of a group in a row
#define SEGMENT (COLUMNS + 2 * RADIUS_X) // columns of a row that a group fetches
#define FETCHES ((SEGMENT + ITEMS - 1) / ITEMS)  // fetches of a work-item in a row, at most
#define HAS(f) (((f) + 1) * ITEMS <= SEGMENT || item < SEGMENT - (f) * ITEMS)  // it has fetch f
#define PITCH ((SEGMENT + 6) / 4)        // float4 of a row's segment in local memory
#define NEAR ((4 + 2 * RADIUS_X + 3) / 4)  // float4 that a work-item sums

#ifdef BORDER_CONSTANT
#define AT(p) max(p, 0)
#else
#define AT(p) (p)
#endif

// Fetches ROWS rows. `inside` says that no column lies beyond an edge.
static inline void fetch_rows(__global const float *in, int y, int height, int width, const int at[FETCHES], int inside,
                              int item, float v[ROWS][FETCHES]) {
    if (inside && y >= 0 && y + ROWS <= height) {
        in += (size_t)y * width + at[0];
        UNROLLED
        for (int r = 0; r < ROWS; r++, in += width)
            UNROLLED
            for (int f = 0; f < FETCHES; f++)
                if (HAS(f)) v[r][f] = in[f * ITEMS];
    } else {
        UNROLLED
        for (int r = 0; r < ROWS; r++) {
            __global const float *row = in + (size_t)AT(border_index(y + r, height)) * width;
            UNROLLED
            for (int f = 0; f < FETCHES; f++)
                if (HAS(f)) v[r][f] = row[AT(at[f])];
        }
    }
}

// A group walks down its columns, ROWS rows at a time. While it fetches the next rows, it sums the last ones along x
// from local memory; each work-item sums four neighbouring columns, and adds these sums to all results that they belong
// to, which it keeps in registers.
// Group: (ITEMS, 1, 1), for `band` rows.
__kernel void both_local(__global const float *in, __global const float *weights_y, __global const float *weights_x,
                         __global float *out, ulong from, int height, int width, int band, float cval) {
    __local float4 lines[ROWS * PITCH];
    int item = get_local_id(0), x0 = get_group_id(0) * COLUMNS, y0 = get_group_id(1) * band, end = min(y0 + band, height);
    in += from + get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)height * width;
    float wy[RADIUS_Y + 1], wx[RADIUS_X + 1], next[ROWS][FETCHES];
    float4 sums[ROWS + 2 * RADIUS_Y];
    UNROLLED
    for (int k = 0; k <= RADIUS_Y; k++) wy[k] = weights_y[k];
    UNROLLED
    for (int k = 0; k <= RADIUS_X; k++) wx[k] = weights_x[k];
    UNROLLED
    for (int k = 0; k < 2 * RADIUS_Y; k++) sums[k] = 0.0f;
    // The places of a work-item's values in a row (−1: outside).
    int at[FETCHES], inside = x0 >= RADIUS_X && x0 - RADIUS_X + SEGMENT + 4 <= width;
    UNROLLED
    for (int f = 0; f < FETCHES; f++) at[f] = border_column(x0 - RADIUS_X + item + f * ITEMS, width);
    fetch_rows(in, y0 - RADIUS_Y, height, width, at, inside, item, next);
    for (int y = y0 - RADIUS_Y; y < end + RADIUS_Y; y += ROWS) {
        UNROLLED
        for (int r = 0; r < ROWS; r++)
            UNROLLED
            for (int f = 0; f < FETCHES; f++) {
                if (!HAS(f)) continue;
                float v = next[r][f];
#ifdef BORDER_CONSTANT
                if (y + r < 0 || y + r >= height || at[f] < 0) v = cval;
#endif
                ((__local float *)(lines + r * PITCH))[f * ITEMS + item] = v;
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (y + ROWS < end + RADIUS_Y) fetch_rows(in, y + ROWS, height, width, at, inside, item, next);
        UNROLLED
        for (int k = 2 * RADIUS_Y; k < ROWS + 2 * RADIUS_Y; k++) sums[k] = 0.0f;
        UNROLLED
        for (int r = 0; r < ROWS; r++) {
            float v[4 * NEAR];
            UNROLLED
            for (int q = 0; q < NEAR; q++) {
                float4 four = lines[r * PITCH + item + q];
                v[4 * q] = four.x, v[4 * q + 1] = four.y, v[4 * q + 2] = four.z, v[4 * q + 3] = four.w;
            }
            float4 sum = 0.0f;
            UNROLLED
            for (int k = 0; k <= 2 * RADIUS_X; k++)
                sum = fma((float4)wx[min(k, 2 * RADIUS_X - k)], (float4)(v[k], v[k + 1], v[k + 2], v[k + 3]), sum);
            UNROLLED
            for (int k = 0; k <= 2 * RADIUS_Y; k++)
                sums[r + k] = fma((float4)wy[min(k, 2 * RADIUS_Y - k)], sum, sums[r + k]);
        }
        // These rows of the result have received all their terms.
        int p = x0 + item * 4, first = y - RADIUS_Y;
        __global float *to = out + (ptrdiff_t)first * width + p;
        UNROLLED
        for (int r = 0; r < ROWS; r++)
            if (first + r >= y0 && first + r < end) store_four(sums[r], to + (size_t)r * width, width - p);
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLLED
        for (int k = 0; k < 2 * RADIUS_Y; k++) sums[k] = sums[k + ROWS];
    }
}
