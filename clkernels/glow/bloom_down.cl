// The mip chain of bloom on its way down. Level k + 1 has half the rows and columns of level k, rounded up; its pixel
// (i, j) covers pixels (2i … 2i+1, 2j … 2j+1). Beyond the edges images are mirrored, dcba|abcd|dcba, or rows wrap
// around (reflected.cl).
//
// The filter has 13 bilinear taps, which are five boxes of 4 × 4 pixels: the middle one with weight 1/2, and four that
// are moved by (±1, ±1) with 1/8 each; 6 × 6 pixels in all (J. Jimenez, Next Generation Post Processing in Call of
// Duty: Advanced Warfare, SIGGRAPH 2014).
//
// The file stands after reflected.cl, [lanes.cl, colour.cl, decode.cl,] layout.cl, bloom.cl and bloom_boxes.cl. Input
// is a file's pixels as in layout.cl, or planes, where dimension 2 counts blocks of CHANNELS. Output is planes. CPUs
// use bloom_wide.cl.
//
// -D ITEMS=n   is the number of work-items of a group
// -D FIRST     says that level 0 is the image, which is read as its light; boxes then weigh as in bloom_boxes.cl
// -D KNEE      says that there is a threshold

// Sums of rows 2r and 2r + 1 over a work-item's columns a, b, c and d, in one channel.
typedef struct {
    float ab, cd;                        // sums over both rows
    float upper_a, upper_bc, upper_d;    // sums over the upper row
    float lower_a, lower_bc, lower_d;    // sums over the lower row
} Sums;

static inline Sums added(const float *up, const float *low) {
    Sums s;
    s.upper_a = up[0], s.upper_bc = up[CHANNELS] + up[2 * CHANNELS], s.upper_d = up[3 * CHANNELS];
    s.lower_a = low[0], s.lower_bc = low[CHANNELS] + low[2 * CHANNELS], s.lower_d = low[3 * CHANNELS];
    s.ab = (up[0] + low[0]) + (up[CHANNELS] + low[CHANNELS]);
    s.cd = (up[2 * CHANNELS] + low[2 * CHANNELS]) + (up[3 * CHANNELS] + low[3 * CHANNELS]);
    return s;
}

// Gives the light of four pixels. Where light is every finite value (BOUNDED, no KNEE), the kernel finds the others by
// their sums.
static inline void read_light(Quad quad, __global const float *table, float scale, float2 knee, float *v) {
    STORED four[4 * CHANNELS];
    unpack_quad(quad, four);
    UNROLLED
    for (int p = 0; p < 4; p++) {
        decode(four + p * CHANNELS, table, scale, v + p * CHANNELS);
#if defined(FIRST) && (defined(KNEE) || !defined(BOUNDED))
        to_light(v + p * CHANNELS, knee);
#endif
    }
}

static inline void fetch_rows(__global const STORED *in, int r, int quad, const int *at, int height, int width,
                              Quad *two) {
    UNROLLED
    for (int k = 0; k < 2; k++) fetch_quad_at(in, reflected(2 * r + k, height), quad, at, height, width, &two[k]);
}

// A work-item goes down fine columns 4x … 4x + 3, two rows at a time, and so makes coarse columns 2x and 2x + 1. It
// reads the sums of its neighbours' columns from local memory; the outermost work-item at each end only lends its own.
// Group: (ITEMS, 1, 1), for ITEMS − 2 such fours and `band` coarse rows.
__kernel void down(__global const STORED *restrict fine, __global float *restrict coarse, int height, int width, int band,
                   float2 knee, float karis, __global const float *restrict table, float scale) {
    __local float2 lines[2 * 2 * CHANNELS * ITEMS];  // two lines take turns, so that one barrier a row is enough
    int item = get_local_id(0), rows = (height + 1) / 2, columns = (width + 1) / 2;
    int x = get_group_id(0) * (ITEMS - 2) + item - 1, beside = clamp(item, 1, ITEMS - 2);
    int makes = item >= 1 && item < ITEMS - 1 && 2 * x < columns;
    int start = get_group_id(1) * band, last = min(start + band, rows);
#ifdef READ_WORDS
    // Beyond a mirrored edge, a four is the one before the edge in reverse: the sums for its left go right.
    int quad = column_of(x, width / 4), reverse = ROWS_MIRROR && quad != x, *at = 0;
#else
    int quad = 0, reverse = 0, at[4];
    UNROLLED
    for (int k = 0; k < 4; k++) at[k] = column_of(4 * x + k, width);
#endif
    size_t coarse_plane = (size_t)rows * columns;
    fine += get_global_id(2) * CHANNELS * (size_t)height * width;
    coarse += get_global_id(2) * CHANNELS * coarse_plane;

    float above_ab[CHANNELS], above_cd[CHANNELS];                          // sums over the two rows before
    float pending_a[CHANNELS], pending_bc[CHANNELS], pending_d[CHANNELS];  // the middle boxes' sums so far
    float low_a[CHANNELS], low_bc[CHANNELS], low_d[CHANNELS];              // sums over the last lower row
    float upper[2][CHANNELS], upper_weight[2] = {0.0f, 0.0f};              // the upper boxes' weighted sums and weights
    UNROLLED
    for (int c = 0; c < CHANNELS; c++) {
        above_ab[c] = above_cd[c] = pending_a[c] = pending_bc[c] = pending_d[c] = 0.0f;
        low_a[c] = low_bc[c] = low_d[c] = upper[0][c] = upper[1][c] = 0.0f;
    }
    Quad next[2];
    fetch_rows(fine, start - 1, quad, at, height, width, next);
    for (int r = start - 1; r <= last; r++) {
        float v[2][4 * CHANNELS];
        Sums sums[CHANNELS];
        UNROLLED
        for (int k = 0; k < 2; k++) read_light(next[k], table, scale, knee, v[k]);
        UNROLLED
        for (int c = 0; c < CHANNELS; c++) sums[c] = added(v[0] + c, v[1] + c);
#if defined(FIRST) && !defined(KNEE) && defined(BOUNDED)
        float all = 0.0f;
        UNROLLED
        for (int c = 0; c < CHANNELS; c++) all += sums[c].ab + sums[c].cd;
        if (!isfinite(all)) {  // rare: some pixel is not finite and has no light
            UNROLLED
            for (int k = 0; k < 8; k++) to_light(v[k / 4] + k % 4 * CHANNELS, knee);
            UNROLLED
            for (int c = 0; c < CHANNELS; c++) sums[c] = added(v[0] + c, v[1] + c);
        }
#endif
        if (r < last) fetch_rows(fine, r + 1, quad, at, height, width, next);  // arrive while these rows are added up

        __local float2 *line = lines + (r & 1) * 2 * CHANNELS * ITEMS;
        float2 left[CHANNELS], right[CHANNELS];  // sums of four rows: a box between two work-items, a middle box
        float inner[CHANNELS];
        UNROLLED
        for (int c = 0; c < CHANNELS; c++) {
            left[c] = (float2)(above_ab[c] + sums[c].ab, pending_a[c] + sums[c].upper_a);
            right[c] = (float2)(above_cd[c] + sums[c].cd, pending_d[c] + sums[c].upper_d);
            inner[c] = pending_bc[c] + sums[c].upper_bc;
            line[(c + reverse * CHANNELS) * ITEMS + item] = left[c];
            line[(c + (1 - reverse) * CHANNELS) * ITEMS + item] = right[c];
            pending_a[c] = low_a[c] + (sums[c].upper_a + sums[c].lower_a);
            pending_bc[c] = low_bc[c] + (sums[c].upper_bc + sums[c].lower_bc);
            pending_d[c] = low_d[c] + (sums[c].upper_d + sums[c].lower_d);
            low_a[c] = sums[c].lower_a, low_bc[c] = sums[c].lower_bc, low_d[c] = sums[c].lower_d;
            above_ab[c] = sums[c].ab, above_cd[c] = sums[c].cd;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        float box[3][CHANNELS], middle[2][CHANNELS];  // the last two rows with these; centred on the row above
        UNROLLED
        for (int c = 0; c < CHANNELS; c++) {
            float2 before = line[(c + CHANNELS) * ITEMS + beside - 1], after = line[c * ITEMS + beside + 1];
            box[0][c] = before.x + left[c].x;
            box[1][c] = left[c].x + right[c].x;
            box[2][c] = right[c].x + after.x;
            middle[0][c] = before.y + (left[c].y + inner[c]);
            middle[1][c] = (inner[c] + right[c].y) + after.y;
        }
        float weights[3], made[2][CHANNELS];
        UNROLLED
        for (int k = 0; k < 3; k++) weights[k] = weight_of(box[k], 1, karis);
        UNROLLED
        for (int p = 0; p < 2; p++) {
            float in_middle = 4.0f * weight_of(middle[p], 1, karis), lower_weight = weights[p] + weights[p + 1];
#ifdef FIRST
            float over = 0.0625f * reciprocal(upper_weight[p] + lower_weight + in_middle);
#else
            float over = 0.0625f / 8.0f;
#endif
            upper_weight[p] = lower_weight;
            UNROLLED
            for (int c = 0; c < CHANNELS; c++) {
                float lower = weights[p] * box[p][c] + weights[p + 1] * box[p + 1][c];
                made[p][c] = over * (upper[p][c] + lower + in_middle * middle[p][c]);
                upper[p][c] = lower;
            }
        }
        if (r <= start || !makes) continue;  // the group's work-items meet at the barrier once a row
        __global float *to = coarse + (uint)(r - 1) * (uint)columns + 2 * x;
        UNROLLED
        for (int c = 0; c < CHANNELS; c++, to += coarse_plane) {
#ifdef READ_WORDS
            *(__global float2 *)to = (float2)(made[0][c], made[1][c]);
#else
            to[0] = made[0][c];
            if (2 * x + 1 < columns) to[1] = made[1][c];
#endif
        }
    }
}
