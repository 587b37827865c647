// The mip chain of bloom (bloom_down.cl) on its way up: bilinear interpolation after the tent [1 2 1; 2 4 2; 1 2 1]/16
// (from the same source). Along an axis, the coarse samples c have tents t_i = c_{i−1} + 2 c_i + c_{i+1}, and
//   fine sample 2i − 1 is (3 t_{i−1} + t_i)/16        and 2i is (t_{i−1} + 3 t_i)/16
// The kernel computes out = own · fine + up(coarse · scale); `out` may be `fine`: work-items read what they write.
//
// The file stands after reflected.cl, [lanes.cl, colour.cl, decode.cl,] layout.cl, [encode.cl, tonemap_operators.cl,
// tonemap_light.cl,] bloom.cl. Dimension 2 counts blocks of CHANNELS planes. CPUs use bloom_wide.cl.
//
// -D ITEMS=n         is the number of work-items of a group
// -D CODES=n         is the size of srgb_code's table, which is copied to local memory
// -D LEVELS=1|2      2 makes two levels at once: out = own · fine + up(share · between + up(coarse · scale)); the one
//                    between is not written
// -D FINAL           says that `fine` is the image: `own` multiplies its light, and the sum is added to the image;
//                    `fine` and `out` are planes or a file's pixels
// -D OPERATOR=op_x   tone-maps the result after `exposure` (FINAL only)
// -D KNEE            says that there is a threshold
// -D UNPREMULTIPLY   divides colours by alpha before they are encoded
// -D FOURS           says that rows have a multiple of four pixels, so that four are written together

#ifndef PIXEL
#define PLANAR
#define PIXEL float
#endif

// A sequence of samples is reduced to the last one, its sum with the one before, and two tents, the newer of which is
// about the sample before the last.
typedef struct {
    float last, sum, older, newer;
} Tents;

static inline void push(Tents *t, float v) {
    float sum = t->last + v;
    t->older = t->newer;
    t->newer = t->sum + sum;
    t->sum = sum;
    t->last = v;
}

// Stores pixels 4·quad … 4·quad + 3 of a row, given one after the other, to the result.
static inline void put_quad(const PIXEL *four, __global PIXEL *out, int row, int quad, int height, int width) {
    size_t first = (size_t)(uint)row * (uint)width + (uint)(4 * quad), plane = (size_t)height * width;
#if defined(FOURS) && !defined(PLANAR)
    union {
        PIXEL values[4 * CHANNELS];
        uint words[CHANNELS * sizeof(PIXEL)];
    } all;
    UNROLLED
    for (int k = 0; k < 4 * CHANNELS; k++) all.values[k] = four[k];
    __global uint *to = (__global uint *)(out + first * CHANNELS);
    UNROLLED
    for (int k = 0; k < (int)(CHANNELS * sizeof(PIXEL)); k++) to[k] = all.words[k];
#elif defined(FOURS)
    UNROLLED
    for (int c = 0; c < CHANNELS; c++)
        vstore4((float4)(four[c], four[CHANNELS + c], four[2 * CHANNELS + c], four[3 * CHANNELS + c]), 0,
                out + PIXEL_INDEX(first, c, plane));
#else
    UNROLLED
    for (int p = 0; p < 4; p++)
        for (int c = 0; c < CHANNELS; c++)
            if (4 * quad + p < width) out[PIXEL_INDEX(first + p, c, plane)] = four[p * CHANNELS + c];
#endif
}

#ifdef FINAL
#ifdef UNPREMULTIPLY
static inline void unpremultiply(float *v) {
    for (int c = 0; c < COLOURS; c++) v[c] = straight(v[c], v[CHANNELS - 1]);
}
#endif

// Lays the glow over a plain pixel: one that is finite and, where there is an operator (which takes straight colours),
// neither negative nor beyond `most`. Returns whether the pixel is plain; if it is not, v is not valid.
static inline int lay_plain_glow(const STORED *stored, const float *glow, float own, float2 knee,
                                 __global const float *table, float table_scale, float most, float *v) {
    float light[CHANNELS];
    int plain = 1;
    decode(stored, table, table_scale, v);
    for (int c = 0; c < CHANNELS; c++) light[c] = v[c];
#ifdef KNEE
    plain &= to_light(light, knee);
#endif
    for (int c = 0; c < CHANNELS; c++) {
#ifdef KNEE
        v[c] = lay_over(v[c], own * light[c] + glow[c], c);
#else
        v[c] = c < COLOURS ? fma(1.0f + own, v[c], glow[c]) : lay_over(v[c], own * v[c] + glow[c], c);
#endif
    }
#if defined(OPERATOR) && defined(UNPREMULTIPLY)
    unpremultiply(v);
#endif
    for (int c = 0; c < CHANNELS; c++) {
#ifdef OPERATOR
        if (c < COLOURS) plain &= as_uint(v[c]) <= as_uint(most);
        else
#endif
            plain &= fabs(v[c]) <= FLT_MAX;
    }
    return plain;
}

// Lays the glow over any pixel, which becomes finite and, where there is an operator, within 0 … most. told[0] counts
// pixels that were not finite, told[1] negative ones.
static inline void lay_glow(const STORED *stored, const float *glow, float own, float2 knee, __global const float *table,
                            float table_scale, float most, int present, __local int *told, float *v) {
    float light[CHANNELS];
    decode(stored, table, table_scale, v);
    for (int c = 0; c < CHANNELS; c++) light[c] = v[c];
    if (!to_light(light, knee)) {
        if (present) atomic_inc(&told[0]);
        for (int c = 0; c < CHANNELS; c++) v[c] = to_finite(v[c]);
    }
    for (int c = 0; c < CHANNELS; c++) v[c] = lay_over(v[c], own * light[c] + glow[c], c);
#ifdef OPERATOR
#ifdef UNPREMULTIPLY
    unpremultiply(v);
#endif
    if (present && any_negative(v)) atomic_inc(&told[1]);
    for (int c = 0; c < COLOURS; c++) v[c] = clamp(v[c], 0.0f, most);
#endif
}
#endif

// Interpolates a row of the coarsest plane at two columns of the level between, which are a pair or its mirror image.
static inline void across(__global const float *coarse, int row, int rows, int columns, const int *taps, int first_is_odd,
                          int second_is_odd, float *first, float *second) {
    coarse += (uint)reflected(row, rows) * (uint)columns;
    UNROLLED
    for (int c = 0; c < CHANNELS; c++, coarse += (size_t)rows * columns) {
        float n[5], sums[4];
        for (int k = 0; k < 5; k++) n[k] = coarse[taps[k]];
        for (int k = 0; k < 4; k++) sums[k] = n[k] + n[k + 1];
        float tent = sums[1] + sums[2];
        float even = sums[0] + sums[1] + 3.0f * tent, odd = 3.0f * tent + (sums[2] + sums[3]);
        first[c] = first_is_odd ? odd : even;
        second[c] = second_is_odd ? odd : even;
    }
}

static inline void fetch_two(__global const float *in, int row, int rows, int columns, const int *at,
                             float two[2][CHANNELS]) {
    in += (uint)reflected(row, rows) * (uint)columns;
    UNROLLED
    for (int c = 0; c < CHANNELS; c++, in += (size_t)rows * columns) two[0][c] = in[at[0]], two[1][c] = in[at[1]];
}

#if LEVELS == 2
#define THROUGH between
#else
#define THROUGH coarse
#endif

// A work-item makes fine columns 4x … 4x + 3, down the rows. Its two columns of the coarse level go through local
// memory, where its neighbours read them; the outermost work-item at each end of a group only lends its own.
// Group: (ITEMS, 1, 1), for ITEMS − 2 such fours and `band` pairs of rows, an even number.
__kernel void up(__global const float *coarse, __global const float *between, __global const STORED *fine,
                 __global PIXEL *out, int height, int width, int band, float own, float share, float scale, float2 knee,
                 __global uint *not_finite, __global const float *restrict table, float table_scale,
                 __global const uint *restrict codes_of_light, __global uint *lost, __global uint *repaired, float exposure,
                 float8 parameters, float most) {
    __local float2 lines[2 * CHANNELS * ITEMS];  // two lines take turns, so that one barrier a row is enough
    int item = get_local_id(0), rows = (height + 1) / 2, columns = (width + 1) / 2;
    int x = get_group_id(0) * (ITEMS - 2) + item - 1, quad = clamp(x, 0, (width - 1) / 4);
    int pair[2] = {column_of(2 * x, columns), column_of(2 * x + 1, columns)};  // in reverse order beyond mirrored edges
    int makes = item >= 1 && item < ITEMS - 1 && x == quad, beside = clamp(item, 1, ITEMS - 2);
    int first = get_group_id(1) * band, last = min(first + band, height / 2 + 1);
    size_t plane = (size_t)height * width, coarse_plane = (size_t)rows * columns;
    fine += get_global_id(2) * CHANNELS * plane;
    out += get_global_id(2) * CHANNELS * plane;
#if LEVELS == 2
    int far_rows = (rows + 1) / 2, far_columns = (columns + 1) / 2, taps[5];
    UNROLLED
    for (int k = 0; k < 5; k++) taps[k] = column_of(pair[0] / 2 - 2 + k, far_columns);
    coarse += get_global_id(2) * CHANNELS * far_rows * far_columns;
    between += get_global_id(2) * CHANNELS * coarse_plane;
    Tents far[2][CHANNELS];  // the tents down the coarsest level, at the two columns
    UNROLLED
    for (int k = 0; k < 2 * CHANNELS; k++) far[k / CHANNELS][k % CHANNELS] = (Tents){0.0f, 0.0f, 0.0f, 0.0f};
    UNROLLED
    for (int k = -3; k <= 0; k++) {
        float v[2][CHANNELS];
        across(coarse, first / 2 + k, far_rows, far_columns, taps, pair[0] & 1, pair[1] & 1, v[0], v[1]);
        for (int c = 0; c < CHANNELS; c++) push(&far[0][c], v[0][c]), push(&far[1][c], v[1][c]);
    }
#else
    coarse += get_global_id(2) * CHANNELS * coarse_plane;
#endif
#ifdef CODES
    __local uint codes[CODES];  // a copy of srgb_code's table
    for (int k = item; k < CODES; k += ITEMS) codes[k] = codes_of_light[k];
#else
    __local uint *codes = 0;
#endif
    Tents near[4][CHANNELS];  // the tents down the coarse level, at the four columns
    int losses[2] = {0, 0};
    __local int told[2];  // the numbers of pixels that are not finite, and that are negative
    if (item < 2) told[item] = 0;
    UNROLLED
    for (int k = 0; k < 4 * CHANNELS; k++) near[k / CHANNELS][k % CHANNELS] = (Tents){0.0f, 0.0f, 0.0f, 0.0f};

    float ahead[2][CHANNELS];  // the current row of the level that goes through local memory
    fetch_two(THROUGH, first - 2, rows, columns, pair, ahead);
    Quad next;
    // A work-item fetches only pixels that it makes itself: others may have been overwritten where out is fine.
    int bottom = min(2 * last - 2, height - 1);
    if (makes) fetch_quad(fine, max(2 * first - 1, 0), quad, height, width, &next);
    for (int row = first - 2; row <= last; row++) {
        __local float2 *line = lines + (row & 1) * CHANNELS * ITEMS;
        float v[2][CHANNELS];
#if LEVELS == 2
        // Below the last row, the rows above it follow in reverse. If the number of rows is odd, the coarsest level
        // ends later, and its tents wait for them. If it is even, both levels are mirrored about the same line.
        int waits = (rows & 1) && row >= rows, odd = (waits ? reflected(row, rows) : row) & 1;
        float older = scale * (odd ? 3.0f : 1.0f) / 65536.0f, newer = scale * (odd ? 1.0f : 3.0f) / 65536.0f;
        if ((row & 1) && !waits) {
            across(coarse, (row + 1) / 2 + 1, far_rows, far_columns, taps, pair[0] & 1, pair[1] & 1, v[0], v[1]);
            UNROLLED
            for (int c = 0; c < CHANNELS; c++) push(&far[0][c], v[0][c]), push(&far[1][c], v[1][c]);
        }
#endif
        UNROLLED
        for (int c = 0; c < CHANNELS; c++) {
            UNROLLED
            for (int p = 0; p < 2; p++) {
#if LEVELS == 2
                v[p][c] = share * (1.0f / 256.0f) * ahead[p][c] + (older * far[p][c].older + newer * far[p][c].newer);
#else
                v[p][c] = scale * (1.0f / 256.0f) * ahead[p][c];
#endif
            }
            line[c * ITEMS + item] = (float2)(v[0][c], v[1][c]);
        }
        fetch_two(THROUGH, row + 1, rows, columns, pair, ahead);  // arrives while the current row is computed
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLLED
        for (int c = 0; c < CHANNELS; c++) {
            float2 before = line[c * ITEMS + beside - 1], after = line[c * ITEMS + beside + 1];
            float left = before.y + v[0][c], middle = v[0][c] + v[1][c], right = v[1][c] + after.x;
            float tents[4] = {before.x + before.y + left, left + middle, middle + right, right + (after.x + after.y)};
            push(&near[0][c], tents[0] + 3.0f * tents[1]);
            push(&near[1][c], 3.0f * tents[1] + tents[2]);
            push(&near[2][c], tents[1] + 3.0f * tents[2]);
            push(&near[3][c], 3.0f * tents[2] + tents[3]);
        }
        if (row <= first || !makes) continue;  // the group's work-items meet at the barrier once a row
        UNROLLED
        for (int q = 0; q < 2; q++) {
            int y = 2 * row - 3 + q;
            Quad now = next;
            fetch_quad(fine, min(y + 1, bottom), quad, height, width, &next);  // arrives while this row is computed
            if (y < 0 || y >= height) continue;
            float by_older = q ? 1.0f : 3.0f, by_newer = 4.0f - by_older;
            float glow[4][CHANNELS];
            STORED here[4 * CHANNELS];
            unpack_quad(now, here);
            PIXEL made[4 * CHANNELS];
            UNROLLED
            for (int p = 0; p < 4; p++)
                for (int c = 0; c < CHANNELS; c++)
                    glow[p][c] = fma(by_older, near[p][c].older, by_newer * near[p][c].newer);
#ifdef FINAL
            float shown[4][CHANNELS];
            int plain = 1;
            UNROLLED
            for (int p = 0; p < 4; p++)
                plain &= lay_plain_glow(here + p * CHANNELS, glow[p], own, knee, table, table_scale, most, shown[p]);
            if (!plain) {  // rare; it copies to arrays of its own, because indexing may put these into slow memory
                STORED stored[4][CHANNELS];
                float glows[4][CHANNELS], all[4][CHANNELS];
                for (int k = 0; k < 4 * CHANNELS; k++) stored[k / CHANNELS][k % CHANNELS] = here[k];
                for (int k = 0; k < 4 * CHANNELS; k++) glows[k / CHANNELS][k % CHANNELS] = glow[k / CHANNELS][k % CHANNELS];
                ROLLED
                for (int p = 0; p < 4; p++)
                    lay_glow(stored[p], glows[p], own, knee, table, table_scale, most, 4 * quad + p < width, told, all[p]);
                for (int k = 0; k < 4 * CHANNELS; k++) shown[k / CHANNELS][k % CHANNELS] = all[k / CHANNELS][k % CHANNELS];
            }
            UNROLLED
            for (int p = 0; p < 4; p++) {
#ifdef OPERATOR
                displayed(shown[p], exposure, parameters, 0);
#elif defined(UNPREMULTIPLY)
                unpremultiply(shown[p]);
#endif
#ifdef PLANAR
                for (int c = 0; c < CHANNELS; c++) made[p * CHANNELS + c] = shown[p][c];
#else
                encode_pixel(shown[p], codes, 4 * quad + p < width ? CHANNELS : 0, losses, made + p * CHANNELS);
#endif
            }
#else
            UNROLLED
            for (int p = 0; p < 4; p++) {
                float light[CHANNELS];
                decode(here + p * CHANNELS, table, table_scale, light);
                for (int c = 0; c < CHANNELS; c++) made[p * CHANNELS + c] = own * light[c] + glow[p][c];
            }
#endif
            put_quad(made, out, y, quad, height, width);
        }
    }
#ifdef FINAL
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0 && told[0]) atomic_add(not_finite, (uint)told[0]);
    if (item == 1 && told[1]) atomic_add(&repaired[2], (uint)told[1]);
    for (int k = 0; k < 2; k++)
        if (losses[k]) atomic_add(&lost[k], (uint)losses[k]);
#endif
}
