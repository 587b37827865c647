// The mip chain of bloom on its way down. Level k + 1 has half the rows and columns of level k, rounded up; its pixel
// (i, j) covers pixels (2i … 2i+1, 2j … 2j+1). Beyond the edges: dcba|abcd|dcba.
//
// 13 bilinear taps as five boxes of 4 × 4 pixels, the one in the middle with weight 1/2, four moved by (±1, ±1) with 1/8
// each; 6 × 6 pixels in all (J. Jimenez, Next Generation Post Processing in Call of Duty: Advanced Warfare, SIGGRAPH
// 2014). -D FIRST: level 0 is the image, read as its light, and each box weighs in addition as bloom_boxes.cl says.
//
// After border.cl, [lanes.cl, colour.cl, decode.cl,] layout.cl, bloom.cl and bloom_boxes.cl. CPUs: bloom_wide.cl.
// From pixels as layout.cl says, or from planes of which dimension 2 counts blocks of CHANNELS; to planes.
//
// -D ITEMS=n  of a group

static inline void fetch_four(__global const STORED *in, int row, int left, int right, int height, int width,
                              STORED four[4][CHANNELS]) {
    UNROLLED
    for (int p = 0; p < 2; p++)
        fetch_pair(in, border_index(row + p, height), left, right, height, width, four + 2 * p);
}

// A work-item goes down two fine columns, 2x and 2x + 1, two rows at a time, and so makes coarse column x. Its
// neighbours' four pixels come through local memory; the outermost two of a group only lend theirs.
// Group: (ITEMS, 1, 1), for ITEMS − 2 columns and `band` rows.
__kernel void down(__global const STORED *restrict fine, __global float *restrict coarse, int height, int width, int band,
                   float2 knee, float karis, __global const float *restrict table, float scale) {
    __local float4 lines[2 * CHANNELS * ITEMS];  // in turn, so that one barrier a row is enough
    int item = get_local_id(0), rows = (height + 1) / 2, columns = (width + 1) / 2;
    int x = get_group_id(0) * (ITEMS - 2) + item - 1, lends = item == 0 || item == ITEMS - 1 || x >= columns;
    int first = get_group_id(1) * band, last = min(first + band, rows);
    // Beyond the edges a pair stands in reverse.
    int left = border_index(2 * x, width), right = border_index(2 * x + 1, width), reverse = left > right;
    if (reverse) left = right, right = left + 1;
    size_t plane = (size_t)height * width, coarse_plane = (size_t)rows * columns;
    fine += get_global_id(2) * CHANNELS * plane;
    coarse += get_global_id(2) * CHANNELS * coarse_plane;

    // Of the two rows before: sums of the left and the right boxes' four columns and of the middle one's in the lower row.
    // Of the row at hand: the upper boxes, weighed, and what the middle one has so far.
    float lefts[CHANNELS], rights[CHANNELS], lower[CHANNELS], upper[CHANNELS], middle[CHANNELS], upper_weight = 0.0f;
    UNROLLED
    for (int c = 0; c < CHANNELS; c++) lefts[c] = rights[c] = lower[c] = upper[c] = middle[c] = 0.0f;
    STORED next[4][CHANNELS];
    fetch_four(fine, 2 * first - 2, left, right, height, width, next);
    for (int r = first - 1; r <= last; r++) {
        float v[4][CHANNELS];
        UNROLLED
        for (int p = 0; p < 4; p++) {
            decode(next[p], table, scale, v[p]);
#ifdef FIRST
            to_light(v[p], knee);
#endif
        }
        __local float4 *line = lines + (r & 1) * CHANNELS * ITEMS;
        UNROLLED
        for (int c = 0; c < CHANNELS; c++) {
            float4 own = (float4)(v[0][c], v[1][c], v[2][c], v[3][c]);
            line[c * ITEMS + item] = reverse ? own.yxwz : own;
        }
        if (r < last) fetch_four(fine, 2 * r + 2, left, right, height, width, next);  // on their way while these are added up
        barrier(CLK_LOCAL_MEM_FENCE);
        float box[3][CHANNELS];  // left and right, between the last two rows and these; the middle one of the row above
        UNROLLED
        for (int c = 0; c < CHANNELS; c++) {
            float4 before = line[c * ITEMS + max(item - 1, 0)], after = line[c * ITEMS + min(item + 1, ITEMS - 1)];
            float high = v[0][c] + v[1][c], low = v[2][c] + v[3][c], own = high + low;
            float from_left = before.x + before.y + before.z + before.w + own;
            float from_right = after.x + after.y + after.z + after.w + own;
            high += before.y + after.x;
            low += before.w + after.z;
            box[0][c] = lefts[c] + from_left;
            box[1][c] = rights[c] + from_right;
            box[2][c] = middle[c] + high;
            lefts[c] = from_left;
            rights[c] = from_right;
            middle[c] = lower[c] + high + low;
            lower[c] = low;
        }
        float w_left = weight_of(box[0], 1, karis), w_right = weight_of(box[1], 1, karis);
        float w_middle = 4.0f * weight_of(box[2], 1, karis), w_lower = w_left + w_right;
        float over = 0.0625f * reciprocal(upper_weight + w_lower + w_middle);
        UNROLLED
        for (int c = 0; c < CHANNELS; c++) {
            float edges = w_left * box[0][c] + w_right * box[1][c];
            float sum = over * (upper[c] + edges + w_middle * box[2][c]);
            if (r > first && !lends) coarse[c * coarse_plane + (size_t)(r - 1) * columns + x] = sum;
            upper[c] = edges;
        }
        upper_weight = w_lower;
    }
}
