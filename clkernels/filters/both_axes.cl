// A separable convolution along both axes at once, so that nothing in between goes through memory:
//   out[y, x] = Σ_l wy[l + ry] · Σ_k wx[k + rx] · in[y + l, x + k],  l = −ry…ry, k = −rx…rx.
// Input and output are both planar float (plane, row, column), where dimension 2 counts planes from element `from` on,
// or both a file's pixels of one type. The file stands after fours.cl and encode_four.cl. The border is as in
// border.cl, with cval outside (constant). CPUs use both_axes_wide.cl.
//
// -D BORDER_x
// -D RADIUS_Y=n -D RADIUS_X=n   are the radii ry and rx
// -D ITEMS=n    is the number of work-items of a group, a multiple of INTERLEAVED
// -D ROWS=n     is the number of rows that are taken at a time
// -D PIXEL=type …   is for a file's pixels: as in decode.cl and encode.cl, which stand before; CHANNELS are a pixel's
//                   where there is alpha (2 or 4), else 4
// -D LIGHTS=n -D CODES=n   are the sizes of decode.cl's and encode.cl's tables, which go to local memory

#ifndef COLOURS
#define PLANAR
#endif

// A fetch takes a word: one float, or four values of pixels, which are unpacked on their way to local memory.
#ifdef PLANAR
#define UNIT 1
#define LOAD(p) (*(p))
typedef float Word;
#else
#define UNIT 4
#define LOAD load_four
typedef Raw Word;
#endif

#define COLUMNS (ITEMS / INTERLEAVED * 4)     // results of a group in a row
#define WHOLE (INTERLEAVED % UNIT == 0 ? 1 : INTERLEAVED % 2 == 0 ? 2 : 4)  // the fewest columns in whole words
#define MARGIN ((RADIUS_X + WHOLE - 1) / WHOLE * WHOLE)                      // columns fetched before the first result
#define SEGMENT (MARGIN + COLUMNS + RADIUS_X) // columns of a row that a group fetches
#define AFTER (ITEMS * UNIT / INTERLEAVED)    // columns from one fetch of a work-item to its next
#define FETCHES ((SEGMENT + AFTER - 1) / AFTER)  // fetches of a work-item in a row, at most
#define HAS(f) (((f) + 1) * AFTER <= SEGMENT || item * UNIT < (SEGMENT - (f) * AFTER) * INTERLEAVED)  // it has fetch f
// A line of local memory has one channel of a row's segment, from SHIFT on. SHIFT makes the columns that a work-item
// sums begin at a float4, unless words are float4 themselves.
#define SHIFT (INTERLEAVED == 1 ? 0 : (4 + RADIUS_X - MARGIN) % 4)
#define BEGIN (SHIFT + MARGIN - RADIUS_X)
#define PITCH ((SHIFT + SEGMENT + 6) / 4)     // float4 of a line
#define NEAR ((BEGIN % 4 + 4 + 2 * RADIUS_X + 3) / 4)  // float4 that a work-item sums

#ifdef BORDER_CONSTANT
#define AT(p) max(p, 0)
#else
#define AT(p) (p)
#endif

// Gathers a word from places of a row that need not be neighbours.
static inline Word word_at(__global const PIXEL *row, const int *at) {
#ifdef PLANAR
    return row[AT(at[0])];
#else
    PIXEL v[4] = {row[AT(at[0])], row[AT(at[1])], row[AT(at[2])], row[AT(at[3])]};
    return pack_four(v);
#endif
}

// Fetches ROWS rows. `inside` says that no column lies beyond an edge.
static inline void fetch_rows(__global const PIXEL *in, int y, int height, int pitch, const int at[FETCHES][UNIT],
                              int inside, int item, Word v[ROWS][FETCHES]) {
    if (inside && y >= 0 && y + ROWS <= height) {
        in += (size_t)y * pitch + at[0][0];
        UNROLLED
        for (int r = 0; r < ROWS; r++, in += pitch)
            UNROLLED
            for (int f = 0; f < FETCHES; f++)
                if (HAS(f)) v[r][f] = LOAD(in + f * ITEMS * UNIT);
    } else {
        UNROLLED
        for (int r = 0; r < ROWS; r++) {
            __global const PIXEL *row = in + (size_t)AT(border_index(y + r, height)) * pitch;
            UNROLLED
            for (int f = 0; f < FETCHES; f++)
                if (HAS(f)) v[r][f] = word_at(row, at[f]);
        }
    }
}

// A group walks down its columns, ROWS rows at a time. While it fetches the next rows, it sums the last ones along x
// from local memory; each work-item sums four neighbouring columns of a channel, and adds these sums to all results
// that they belong to, which it keeps in registers. Work-items load and store four neighbouring values, whichever
// channels these belong to; local memory changes the one order into the other.
// Group: (ITEMS, 1, 1), for `band` rows. `lost` is as in encode.cl.
__kernel void both_local(__global const PIXEL *in, __global const float *weights_y, __global const float *weights_x,
                         __global PIXEL *out, ulong from, int height, int width, int band, float cval,
                         __global const float *lights, float scale, __global const uint *codes, __global uint *lost) {
    __local float4 lines[ROWS * INTERLEAVED * PITCH];
    int item = get_local_id(0), x0 = get_group_id(0) * COLUMNS, y0 = get_group_id(1) * band, end = min(y0 + band, height);
    int pitch = width * INTERLEAVED, part = item / (COLUMNS / 4) * PITCH + item % (COLUMNS / 4);
    in += from + get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)height * width;
#ifndef PLANAR
    __local float4 results[ROWS * INTERLEAVED * PITCH];
    int losses[2] = {0, 0};
#ifdef LIGHTS
    __local float near_lights[LIGHTS];
    for (int k = item; k < LIGHTS; k += ITEMS) near_lights[k] = lights[k];
#else
#define near_lights lights
#endif
#ifdef CODES
    __local uint near_codes[CODES];
    for (int k = item; k < CODES; k += ITEMS) near_codes[k] = codes[k];
#else
#define near_codes codes
#endif
#endif
    float wy[RADIUS_Y + 1], wx[RADIUS_X + 1];
    Word next[ROWS][FETCHES];
    float4 sums[ROWS + 2 * RADIUS_Y];
    UNROLLED
    for (int k = 0; k <= RADIUS_Y; k++) wy[k] = weights_y[k];
    UNROLLED
    for (int k = 0; k <= RADIUS_X; k++) wx[k] = weights_x[k];
    UNROLLED
    for (int k = 0; k < 2 * RADIUS_Y; k++) sums[k] = 0.0f;
    // The places of a work-item's values in a row (−1: outside), and among a row's lines.
    int at[FETCHES][UNIT], place[UNIT], inside = x0 >= MARGIN && x0 - MARGIN + SEGMENT + 4 <= width;
    UNROLLED
    for (int c = 0; c < UNIT; c++) {
        int column = (item * UNIT + c) / INTERLEAVED, channel = (item * UNIT + c) % INTERLEAVED;
        place[c] = channel * PITCH * 4 + column;
        UNROLLED
        for (int f = 0; f < FETCHES; f++) {
            int x = border_column(x0 - MARGIN + column + f * AFTER, width);
            at[f][c] = x < 0 ? -1 : x * INTERLEAVED + channel;
        }
    }
    fetch_rows(in, y0 - RADIUS_Y, height, pitch, at, inside, item, next);
#ifndef PLANAR
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (int y = y0 - RADIUS_Y; y < end + RADIUS_Y; y += ROWS) {
        UNROLLED
        for (int r = 0; r < ROWS; r++)
            UNROLLED
            for (int f = 0; f < FETCHES; f++) {
                if (!HAS(f)) continue;
                __local float *line = (__local float *)(lines + r * INTERLEAVED * PITCH) + SHIFT + f * AFTER;
                float v[UNIT];
#ifdef PLANAR
                v[0] = next[r][f];
#else
                PIXEL four[4];
                unpack_four(next[r][f], four);
                UNROLLED
                for (int c = 0; c < 4; c += CHANNELS) decode(four + c, near_lights, scale, v + c);
#endif
#ifdef BORDER_CONSTANT
                for (int c = 0; c < UNIT; c++)
                    if (y + r < 0 || y + r >= height || at[f][c] < 0) v[c] = cval;
#endif
#if !defined(PLANAR) && INTERLEAVED == 1
                ((__local float4 *)line)[item] = vload4(0, v);
#else
                UNROLLED
                for (int c = 0; c < UNIT; c++) line[place[c]] = v[c];
#endif
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (y + ROWS < end + RADIUS_Y) fetch_rows(in, y + ROWS, height, pitch, at, inside, item, next);
        UNROLLED
        for (int k = 2 * RADIUS_Y; k < ROWS + 2 * RADIUS_Y; k++) sums[k] = 0.0f;
        UNROLLED
        for (int r = 0; r < ROWS; r++) {
            float v[4 * NEAR];
            UNROLLED
            for (int q = 0; q < NEAR; q++) {
                float4 four = lines[r * INTERLEAVED * PITCH + part + BEGIN / 4 + q];
                v[4 * q] = four.x, v[4 * q + 1] = four.y, v[4 * q + 2] = four.z, v[4 * q + 3] = four.w;
            }
            float4 sum = 0.0f;
            UNROLLED
            for (int k = 0; k <= 2 * RADIUS_X; k++) {
                int i = BEGIN % 4 + k;
                sum = fma((float4)wx[min(k, 2 * RADIUS_X - k)], (float4)(v[i], v[i + 1], v[i + 2], v[i + 3]), sum);
            }
            UNROLLED
            for (int k = 0; k <= 2 * RADIUS_Y; k++)
                sums[r + k] = fma((float4)wy[min(k, 2 * RADIUS_Y - k)], sum, sums[r + k]);
        }
        // These rows of the result have received all their terms.
        int p = x0 * INTERLEAVED + item * 4, first = y - RADIUS_Y;
        __global PIXEL *to = out + (ptrdiff_t)first * pitch + p;
#ifdef PLANAR
        UNROLLED
        for (int r = 0; r < ROWS; r++)
            if (first + r >= y0 && first + r < end) store_four(sums[r], to + (size_t)r * pitch, pitch - p);
        barrier(CLK_LOCAL_MEM_FENCE);
#else
        UNROLLED
        for (int r = 0; r < ROWS; r++) results[r * INTERLEAVED * PITCH + part] = sums[r];
        barrier(CLK_LOCAL_MEM_FENCE);
        ROLLED
        for (int r = max(0, y0 - first); r < min(ROWS, end - first); r++) {
            __local const float *line = (__local const float *)(results + r * INTERLEAVED * PITCH);
            float v[4];
            UNROLLED
            for (int c = 0; c < 4; c++) v[c] = line[place[c]];
            store_four(encode_four(v, near_codes, pitch - p, losses), to + (size_t)r * pitch, pitch - p);
        }
#endif
        UNROLLED
        for (int k = 0; k < 2 * RADIUS_Y; k++) sums[k] = sums[k + ROWS];
    }
#ifndef PLANAR
    for (int k = 0; k < 2; k++)
        if (losses[k]) atomic_add(&lost[k], (uint)losses[k]);
#endif
}
