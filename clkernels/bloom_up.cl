// The mip chain of bloom (bloom_down.cl) on its way up: bilinear interpolation after the tent [1 2 1; 2 4 2; 1 2 1]/16
// (the same source). Along an axis both together are, from coarse samples i − 2 … i + 1,
//   of fine sample 2i − 1: [3 7 5 1]/16        of fine sample 2i: [1 5 7 3]/16
// so that pairs of rows (2r − 1, 2r) have their coarse ones in common.
//
// out = own · fine + up(coarse · scale)                     out may be fine: each work-item reads what it writes
// -D LEVELS=2: out = own · fine + up(share · between + up(coarse · scale)), two levels at once, of which the one between
// is not written. -D FINAL: fine is the image and its light is what `own` counts; out is the image + …; from and to
// planes, or pixels. -D OPERATOR=op_x: then tone-mapped, after `exposure`.
//
// After border.cl, [lanes.cl, colour.cl, decode.cl,] layout.cl, [encode.cl, tonemap_operators.cl, tonemap_light.cl,]
// bloom.cl. Dimension 2 counts blocks of CHANNELS planes. CPUs: bloom_wide.cl.
//
// -D ITEMS=n  of a group   -D CODES=n  values of srgb_code's table, which is copied to local memory   -D LEVELS=1|2   -D FINAL   -D UNPREMULTIPLY   as in pack.cl
// -D WRITE_WORD=uint|ushort   two neighbours are written in such words: as READ_WORD of layout.cl

#ifndef PIXEL
#define PIXEL float
static inline void encode_pixel(const float *v, __local const uint *codes, int count, int *lost, float *pixel) {
    for (int k = 0; k < CHANNELS; k++) pixel[k] = v[k];
}
#endif

typedef union {  // two pixels of the result
    PIXEL values[2 * CHANNELS];
#ifdef WRITE_WORD
    WRITE_WORD words[2 * CHANNELS * sizeof(PIXEL) / sizeof(WRITE_WORD)];
#endif
} Written;

// The weights of four coarse samples for a fine one: of 2i − 1 (`odd`) or 2i.
static inline void tent_weights(int odd, float by, float *w) {
    w[0] = odd ? 3.0f * by : by;
    w[1] = odd ? 7.0f * by : 5.0f * by;
    w[2] = odd ? 5.0f * by : 7.0f * by;
    w[3] = odd ? by : 3.0f * by;
}

static inline float weighed4(const float *w, float a, float b, float c, float d) {
    return fma(w[0], a, fma(w[1], b, fma(w[2], c, w[3] * d)));
}

// A row of the coarsest plane at one column of the level between.
static inline void across(__global const float *coarse, int row, int rows, int columns, const int *taps, const float *w,
                          float *v) {
    __global const float *line = coarse + (size_t)border_index(row, rows) * columns;
    UNROLLED
    for (int c = 0; c < CHANNELS; c++) {
        v[c] = weighed4(w, line[taps[0]], line[taps[1]], line[taps[2]], line[taps[3]]);
        line += (size_t)rows * columns;
    }
}

static inline void fetch_two(__global const STORED *in, int row, int left, int right, int height, int width,
                             STORED two[2][CHANNELS]) {
    fetch_pair(in, clamp(row, 0, height - 1), left, right, height, width, two);
}

#if LEVELS == 2
#define THROUGH between
#else
#define THROUGH coarse
#endif

static inline void fetch_coarse(__global const float *in, int row, int rows, int columns, int column, float *v) {
    in += (size_t)(uint)border_index(row, rows) * (uint)columns + column;
    UNROLLED
    for (int c = 0; c < CHANNELS; c++, in += (size_t)rows * columns) v[c] = *in;
}

// A work-item makes fine columns 2x and 2x + 1, down the rows. Its column of the coarse level goes through local memory,
// where two neighbours on either side read it: the outermost two of a group only lend theirs.
// Group: (ITEMS, 1, 1), for ITEMS − 4 coarse columns and `band` pairs of rows, an even number.
__kernel void up(__global const float *coarse, __global const float *between, __global const STORED *fine,
                 __global PIXEL *out, int height, int width, int band, float own, float share, float scale, float2 knee,
                 __global uint *not_finite, __global const float *restrict table, float table_scale,
                 __global const uint *restrict codes_of_light, __global uint *lost, __global uint *repaired, float exposure,
                 float white) {
    __local float lines[2 * CHANNELS * ITEMS];
    int item = get_local_id(0), rows = (height + 1) / 2, columns = (width + 1) / 2;
    int x = get_group_id(0) * (ITEMS - 4) + item - 2, column = border_index(x, columns);
    int makes = item >= 2 && item < ITEMS - 2 && x < columns, near = clamp(item, 2, ITEMS - 3) - 2;
    int first = get_group_id(1) * band, last = min(first + band, height / 2 + 1);
    size_t plane = (size_t)height * width, coarse_plane = (size_t)rows * columns;
    fine += get_global_id(2) * CHANNELS * plane;
    out += get_global_id(2) * CHANNELS * plane;
#if LEVELS == 2
    int far_rows = (rows + 1) / 2, far_columns = (columns + 1) / 2, taps[4];
    float across_weights[4], far[4][CHANNELS];  // four rows of the coarsest level, across
    tent_weights(column & 1, scale / 256.0f, across_weights);
    UNROLLED
    for (int k = 0; k < 4; k++) taps[k] = border_index((column + 1) / 2 - 2 + k, far_columns);
    coarse += get_global_id(2) * CHANNELS * far_rows * far_columns;
    between += get_global_id(2) * CHANNELS * coarse_plane;
    UNROLLED
    for (int k = 0; k < 4; k++)
        across(coarse, first / 2 - 3 + k, far_rows, far_columns, taps, across_weights, far[k]);
#else
    coarse += get_global_id(2) * CHANNELS * coarse_plane;
#endif
#ifdef CODES
    __local uint codes[CODES];  // of srgb_code, copied
    for (int k = item; k < CODES; k += ITEMS) codes[k] = codes_of_light[k];
#else
    __local uint *codes = 0;
#endif
    float above[4][2][CHANNELS];  // four rows of the coarse level, across
    int bad = 0, negative = 0, losses[2] = {0, 0};
    UNROLLED
    for (int k = 0; k < 4 * 2 * CHANNELS; k++) above[k / 2 / CHANNELS][k / CHANNELS % 2][k % CHANNELS] = 0.0f;

    float ahead[CHANNELS];  // of the level that goes through local memory, the row at hand
    fetch_coarse(THROUGH, first - 2, rows, columns, column, ahead);
    STORED next[2][CHANNELS];
    int left = clamp(2 * x, 0, (width - 1) & ~1), right = min(left + 1, width - 1);
    fetch_two(fine, 2 * first - 1, left, right, height, width, next);
    for (int row = first - 2; row <= last; row++) {
        __local float *line = lines + (row & 1) * CHANNELS * ITEMS;
#if LEVELS == 2
        float down[4];
        tent_weights(row & 1, 1.0f, down);
        if (row & 1) {
            int newest = (row + 1) / 2 + 1;
            UNROLLED
            for (int k = 0; k < 3 * CHANNELS; k++) far[k / CHANNELS][k % CHANNELS] = far[k / CHANNELS + 1][k % CHANNELS];
            across(coarse, newest, far_rows, far_columns, taps, across_weights, far[3]);
        }
#endif
        UNROLLED
        for (int c = 0; c < CHANNELS; c++) {
#if LEVELS == 2
            float v = share * ahead[c] + weighed4(down, far[0][c], far[1][c], far[2][c], far[3][c]);
#else
            float v = scale * ahead[c];
#endif
            line[c * ITEMS + item] = v;
        }
        fetch_coarse(THROUGH, row + 1, rows, columns, column, ahead);  // on its way while this one is worked on
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLLED
        for (int c = 0; c < CHANNELS; c++) {
            __local const float *n = line + c * ITEMS + near;
            float even = n[0] + 5.0f * n[1] + 7.0f * n[2] + 3.0f * n[3];
            float odd = 3.0f * n[1] + 7.0f * n[2] + 5.0f * n[3] + n[4];
            if (row >= rows) {  // below the last row stand those above it, in turn
                even = row == rows ? above[3][0][c] : above[1][0][c];
                odd = row == rows ? above[3][1][c] : above[1][1][c];
            }
            UNROLLED
            for (int k = 0; k < 3; k++) {
                above[k][0][c] = above[k + 1][0][c];
                above[k][1][c] = above[k + 1][1][c];
            }
            above[3][0][c] = even;
            above[3][1][c] = odd;
        }
        if (row <= first || !makes) continue;  // the group's work-items meet at the barrier, once a row
        UNROLLED
        for (int q = 0; q < 2; q++) {
            int y = 2 * row - 3 + q;
            STORED stored[2][CHANNELS];
            UNROLLED
            for (int k = 0; k < 2 * CHANNELS; k++) stored[k / CHANNELS][k % CHANNELS] = next[k / CHANNELS][k % CHANNELS];
            fetch_two(fine, y + 1, left, right, height, width, next);  // on their way while these are worked on
            if (y < 0 || y >= height) continue;
            float w[4];
            Written pair;
            tent_weights(!q, 1.0f / 256.0f, w);
            UNROLLED
            for (int p = 0; p < 2; p++) {
                int present = 2 * x + p < width;
                size_t to = (size_t)y * width + (p ? right : left);
                float v[CHANNELS], light[CHANNELS];
                decode(stored[p], table, table_scale, v);
                UNROLLED
                for (int c = 0; c < CHANNELS; c++) light[c] = v[c];
#ifdef FINAL
                if (!to_light(light, knee)) {
                    bad += present;
                    UNROLLED
                    for (int c = 0; c < CHANNELS; c++) v[c] = to_finite(v[c]);
                }
#endif
                UNROLLED
                for (int c = 0; c < CHANNELS; c++) {
                    float glow = weighed4(w, above[0][p][c], above[1][p][c], above[2][p][c], above[3][p][c]);
#ifdef FINAL
                    v[c] = lay_over(v[c], own * light[c] + glow, c);
#else
                    v[c] = own * light[c] + glow;
#endif
                }
#ifdef OPERATOR
                negative += any_negative(v) & present;
                tonemapped(v, exposure, white);
#endif
#ifdef UNPREMULTIPLY
                float over = v[CHANNELS - 1] > 0.0f ? 1.0f / v[CHANNELS - 1] : 1.0f;
                for (int c = 0; c < COLOURS; c++) v[c] *= over;
#endif
                encode_pixel(v, codes, present ? CHANNELS : 0, losses, pair.values + p * CHANNELS);
#ifndef WRITE_WORD
                UNROLLED
                for (int c = 0; c < CHANNELS; c++)
                    if (present) out[PIXEL_INDEX(to, c, plane)] = pair.values[p * CHANNELS + c];
#endif
            }
#ifdef WRITE_WORD
            __global WRITE_WORD *to = (__global WRITE_WORD *)(out + ((size_t)y * width + left) * CHANNELS);
            UNROLLED
            for (int k = 0; k < (int)(sizeof(pair) / sizeof(WRITE_WORD)); k++) to[k] = pair.words[k];
#endif
        }
    }
    if (bad) atomic_add(not_finite, (uint)bad);
    if (negative) atomic_add(&repaired[2], (uint)negative);
    for (int k = 0; k < 2; k++)
        if (losses[k]) atomic_add(&lost[k], (uint)losses[k]);
}
