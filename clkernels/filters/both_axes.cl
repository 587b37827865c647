// A separable convolution along both axes at once, so that nothing in between goes through memory:
// out[y, x] = Σ_l wy[l + ry] · Σ_k wx[k + rx] · in[y + l, x + k],  l = −ry…ry, k = −rx…rx.
// From planar float (plane, row, column), of which dimension 2 counts planes from element `from` on, to the same; or from a
// file's pixels to such pixels of the same type, of which it counts nothing. After fours.cl and encode_four.cl. Border: see border.cl; outside
// (constant) counts as cval. CPUs: both_axes_wide.cl.
//
// -D BORDER_x   -D RADIUS_Y=n -D RADIUS_X=n
// -D ITEMS=n    of a group, a multiple of INTERLEAVED   -D ROWS=n   at a time
// -D PIXEL=type …   pixels: after decode.cl and encode.cl, whose CHANNELS are a pixel's where there is alpha (2 or 4), else 4;
// -D LIGHTS=n -D CODES=n   values of decode.cl's and encode.cl's table, which are copied to local memory

#ifndef COLOURS
#define PLANAR
#endif

// A fetch is a word: a float, or four values of pixels, which stay as they are until they are put into local memory.
#ifdef PLANAR
#define UNIT 1
#define LOAD(p) (*(p))
typedef float Word;
#else
#define UNIT 4
#define LOAD load_four
typedef Raw Word;
#endif

#define COLUMNS (ITEMS / INTERLEAVED * 4)     // of a group
#define WHOLE (INTERLEAVED % UNIT == 0 ? 1 : INTERLEAVED % 2 == 0 ? 2 : 4)  // columns that whole words make
#define MARGIN ((RADIUS_X + WHOLE - 1) / WHOLE * WHOLE)                      // before these
#define SEGMENT (MARGIN + COLUMNS + RADIUS_X) // of a row
#define AFTER (ITEMS * UNIT / INTERLEAVED)    // columns from fetch to fetch of a work-item
#define FETCHES ((SEGMENT + AFTER - 1) / AFTER)
#define HAS(f) (((f) + 1) * AFTER <= SEGMENT || item * UNIT < (SEGMENT - (f) * AFTER) * INTERLEAVED)
// A line of local memory is a row's segment of one channel, from SHIFT on: so the columns that a work-item sums begin at a
// float4, but where its words are float4 themselves.
#define SHIFT (INTERLEAVED == 1 ? 0 : (4 + RADIUS_X - MARGIN) % 4)
#define BEGIN (SHIFT + MARGIN - RADIUS_X)
#define PITCH ((SHIFT + SEGMENT + 6) / 4)     // float4
#define NEAR ((BEGIN % 4 + 4 + 2 * RADIUS_X + 3) / 4)  // float4 around a work-item's columns

#ifdef BORDER_CONSTANT
#define AT(p) max(p, 0)
#else
#define AT(p) (p)
#endif

// At places of a row that need not be neighbours.
static inline Word word_at(__global const PIXEL *row, const int *at) {
#ifdef PLANAR
    return row[AT(at[0])];
#else
    PIXEL v[4] = {row[AT(at[0])], row[AT(at[1])], row[AT(at[2])], row[AT(at[3])]};
    return pack_four(v);
#endif
}

// Of ROWS rows; `inside`: no column is beyond an edge.
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

// A group walks down its columns, ROWS rows at a time: these are fetched while those before are summed along x from local
// memory, four neighbouring columns of a channel in each work-item, which adds the sums to all results that they are part
// of; those are in its registers. Pixels come from and go to memory four neighbouring values in each work-item, whatever
// channels these are, and local memory changes the one order into the other.
// Group: (ITEMS, 1, 1), for `band` rows. lost: see encode.cl.
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
    // Where a work-item's values are: in a row (−1: outside), and among a row's lines.
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
        // Of the result's rows, those that have met all theirs.
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
