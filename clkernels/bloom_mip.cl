// The mip chain of bloom, after bloom.cl and border.cl. Level k + 1 has half the rows and columns of level k, rounded
// up; its pixel (i, j) covers pixels (2i … 2i+1, 2j … 2j+1). Beyond the edges: dcba|abcd|dcba.
//
// down: 13 bilinear taps as five boxes of 4 × 4 pixels, the one in the middle with weight 1/2, four moved by (±1, ±1)
// with 1/8 each; 6 × 6 pixels in all (J. Jimenez, Next Generation Post Processing in Call of Duty: Advanced Warfare,
// SIGGRAPH 2014). -D FIRST: level 0 is the image, read as its light, and each box weighs in addition
// 1 / (1 + karis · luma), which keeps single hot pixels down (B. Karis, Tone Mapping, 2013); karis is the exposure, or
// 0 for none of it.
//
// up: bilinear interpolation after the tent [1 2 1; 2 4 2; 1 2 1]/16, the same source. Along an axis both together
// are, for fine pixels 2i and 2i + 1 from coarse ones i − 2 … i + 2:   [1 5 7 3 0]/16   and   [0 3 7 5 1]/16
//   up:         out = own · fine + scale · tent(coarse)        (out may be fine: each work-item reads what it writes)
//   -D FINAL:   out = image + own · light + scale · tent(coarse), and not_finite[0] counts pixels
//
// A work-item handles CHANNELS planes; dimension 2 counts such blocks of planes.
// -D WIDE: straight from global memory, 8 (down) or 16 × 2 (up) results a work-item, for CPUs; any group size;
//   global = (ceil(width / 8), height) of the half image for down, (ceil(width / 16), ceil(height / 2)) for up.
// Otherwise through local memory, one result a work-item; global = (width, height) of the result, local = (x, y, 1).

static inline size_t index_of(int row, int column, int width) { return (size_t)row * width + column; }

// ---- down: what both forms share -----------------------------------------------------------------------------

#ifdef WIDE
typedef float8 boxes_t;
#else
typedef float boxes_t;
#endif

#define BOXES 5

// Adds a row r = 0…5 of six pixels to the sums of the boxes: middle, then top left, top right, bottom left, right.
static inline void add_row(boxes_t *box, int r, boxes_t p0, boxes_t p1, boxes_t p2, boxes_t p3, boxes_t p4, boxes_t p5) {
    boxes_t middle = p2 + p3;
    boxes_t left = p0 + p1 + middle, right = middle + p4 + p5;
    if (r >= 1 && r <= 4) box[0] += p1 + middle + p4;
    if (r <= 3) {
        box[1] += left;
        box[2] += right;
    }
    if (r >= 2) {
        box[3] += left;
        box[4] += right;
    }
}

static inline boxes_t luma(const boxes_t *v, int stride) {  // Rec. 709; the mean where there are not three colours
    if (COLOURS == 3) return 0.2126f * v[0] + 0.7152f * v[stride] + 0.0722f * v[2 * stride];
    boxes_t sum = v[0];
    for (int c = 1; c < COLOURS; c++) sum += v[c * stride];
    return sum / (float)COLOURS;
}

// The boxes' sums of 16 pixels, BOXES of each plane, to the planes' results.
static inline void mix(const boxes_t *box, boxes_t *out, float karis) {
    boxes_t weight[BOXES], total = 0.0f;
    for (int b = 0; b < BOXES; b++) {
        weight[b] = b ? 1.0f : 4.0f;
#ifdef FIRST
        weight[b] /= 1.0f + karis * fmax(luma(box + b, BOXES) * 0.0625f, (boxes_t)0.0f);
#endif
        total += weight[b];
    }
    boxes_t scale = 0.0625f / total;
    for (int c = 0; c < CHANNELS; c++) {
        boxes_t sum = 0.0f;
        for (int b = 0; b < BOXES; b++) sum += weight[b] * box[BOXES * c + b];
        out[c] = scale * sum;
    }
}

#ifdef WIDE

static inline float8 row8(__global const float *row, int x, int width) {
    if (x >= 0 && x + 8 <= width) return vload8(0, row + x);
    float s[8];
#pragma unroll 1
    for (int i = 0; i < 8; i++) s[i] = row[border_index(x + i, width)];
    return vload8(0, s);
}

static inline float16 row16(__global const float *row, int x, int width) {
    if (x >= 0 && x + 16 <= width) return vload16(0, row + x);
    float s[16];
#pragma unroll 1
    for (int i = 0; i < 16; i++) s[i] = row[border_index(x + i, width)];
    return vload16(0, s);
}

static inline float16 first16(__global const float *p, int count) {  // the last one repeated where there are fewer
    if (count >= 16) return vload16(0, p);
    float s[16];
    for (int i = 0; i < 16; i++) s[i] = p[min(i, count - 1)];
    return vload16(0, s);
}

__kernel void down(__global const float *fine, __global float *coarse, int height, int width, float2 knee,
                   float karis) {
    int half_width = (width + 1) / 2, half_height = (height + 1) / 2;
    int x = get_global_id(0) * 8, y = get_global_id(1);
    if (x >= half_width || y >= half_height) return;
    size_t plane = (size_t)height * width, half_plane = (size_t)half_height * half_width;
    fine += get_global_id(2) * CHANNELS * plane;
    coarse += get_global_id(2) * CHANNELS * half_plane + index_of(y, x, half_width);

    float8 box[BOXES * CHANNELS], out[CHANNELS];
    for (int b = 0; b < BOXES * CHANNELS; b++) box[b] = 0.0f;
#pragma unroll 1
    for (int r = 0; r < 6; r++) {
        float16 p[3][CHANNELS];  // pixels 2x − 2, 2x and 2x + 2 onwards
        size_t row = index_of(border_index(2 * y - 2 + r, height), 0, width);
        for (int k = 0; k < 3; k++) {
            for (int c = 0; c < CHANNELS; c++) p[k][c] = row16(fine + c * plane + row, 2 * x - 2 + 2 * k, width);
#ifdef FIRST
            to_light(p[k], knee);
#endif
        }
        for (int c = 0; c < CHANNELS; c++)
            add_row(box + BOXES * c, r, p[0][c].even, p[0][c].odd, p[1][c].even, p[1][c].odd, p[2][c].even, p[2][c].odd);
    }
    mix(box, out, karis);
    int count = min(8, half_width - x);
    for (int c = 0; c < CHANNELS; c++) {
        float s[8];
        vstore8(out[c], 0, s);
        for (int i = 0; i < count; i++) coarse[c * half_plane + i] = s[i];
    }
}

// Rows 2y and 2y + 1, columns 2x … 2x + 15 of the doubled plane.
static inline void tent(__global const float *coarse, int y, int x, int height, int width, float16 *rows) {
    float16 upper = 0.0f, lower = 0.0f;
    const float up[5] = {1, 5, 7, 3, 0}, low[5] = {0, 3, 7, 5, 1};
    for (int r = 0; r < 5; r++) {
        __global const float *row = coarse + index_of(border_index(y + r - 2, height), 0, width);
        float8 a = row8(row, x - 2, width), b = row8(row, x - 1, width), c = row8(row, x, width);
        float8 d = row8(row, x + 1, width), e = row8(row, x + 2, width);
        float16 v;
        v.even = a + 5.0f * b + 7.0f * c + 3.0f * d;
        v.odd = 3.0f * b + 7.0f * c + 5.0f * d + e;
        upper += up[r] * v;
        lower += low[r] * v;
    }
    rows[0] = upper * (1.0f / 256.0f);
    rows[1] = lower * (1.0f / 256.0f);
}

__kernel void up(__global const float *coarse, __global const float *fine, __global float *out,
                 __global uint *not_finite, int height, int width, float2 knee, float own, float scale) {
    int half_width = (width + 1) / 2, half_height = (height + 1) / 2;
    int x = get_global_id(0) * 16, y = get_global_id(1) * 2;
    if (x >= width || y >= height) return;
    size_t plane = (size_t)height * width, half_plane = (size_t)half_height * half_width;
    coarse += get_global_id(2) * CHANNELS * half_plane;
    fine += get_global_id(2) * CHANNELS * plane;
    out += get_global_id(2) * CHANNELS * plane;

    float16 glow[CHANNELS][2], v[CHANNELS];
    for (int c = 0; c < CHANNELS; c++) tent(coarse + c * half_plane, y / 2, x / 2, half_height, half_width, glow[c]);
    int count = min(16, width - x);
    for (int r = 0; r < 2 && y + r < height; r++) {
        for (int c = 0; c < CHANNELS; c++) v[c] = first16(fine + c * plane + index_of(y + r, x, width), count);
#ifdef FINAL
        float16 image[CHANNELS];
        for (int c = 0; c < CHANNELS; c++) image[c] = v[c];
        int16 finite = to_light(v, knee);
        if (!all(finite)) {
            int lanes[16];
            uint bad = 0;
            vstore16(finite, 0, lanes);
            for (int i = 0; i < count; i++) bad += !lanes[i];
            if (bad) atomic_add(not_finite, bad);
        }
#endif
        for (int c = 0; c < CHANNELS; c++) {
            float s[16];
#ifdef FINAL
            vstore16(lay_over(image[c], own * v[c] + scale * glow[c][r], c), 0, s);
#else
            vstore16(own * v[c] + scale * glow[c][r], 0, s);
#endif
            for (int i = 0; i < count; i++) out[c * plane + index_of(y + r, x + i, width)] = s[i];
        }
    }
}

#else

// tile: CHANNELS · (2·Ly + 4) · 2·(Lx + 2) floats. Even columns stand first in a row, then odd ones, so that
// neighbouring work-items, two pixels apart, meet neighbouring banks.
__kernel void down(__global const float *fine, __global float *coarse, int height, int width, float2 knee,
                   float karis, __local float *tile) {
    int half_width = (width + 1) / 2, half_height = (height + 1) / 2;
    int lx = get_local_size(0), ly = get_local_size(1), i = get_local_id(0), j = get_local_id(1);
    int x0 = get_group_id(0) * lx, y0 = get_group_id(1) * ly;
    int columns = 2 * lx + 4, rows = 2 * ly + 4, odd = lx + 2, tile_plane = rows * columns;
    size_t plane = (size_t)height * width, half_plane = (size_t)half_height * half_width;
    fine += get_global_id(2) * CHANNELS * plane;

    for (int t = j * lx + i; t < tile_plane; t += lx * ly) {
        int row = t / columns, column = t % columns;
        size_t at = index_of(border_index(2 * y0 - 2 + row, height), border_index(2 * x0 - 2 + column, width), width);
        float v[CHANNELS];
        for (int c = 0; c < CHANNELS; c++) v[c] = fine[c * plane + at];
#ifdef FIRST
        to_light(v, knee);
#endif
        for (int c = 0; c < CHANNELS; c++)
            tile[c * tile_plane + row * columns + (column & 1) * odd + column / 2] = v[c];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    float box[BOXES * CHANNELS], out[CHANNELS];
    for (int c = 0; c < CHANNELS; c++) {
        for (int b = 0; b < BOXES; b++) box[BOXES * c + b] = 0.0f;
        for (int r = 0; r < 6; r++) {
            __local const float *p = tile + c * tile_plane + (2 * j + r) * columns + i;
            add_row(box + BOXES * c, r, p[0], p[odd], p[1], p[odd + 1], p[2], p[odd + 2]);
        }
    }
    mix(box, out, karis);
    int x = x0 + i, y = y0 + j;
    if (x >= half_width || y >= half_height) return;
    coarse += get_global_id(2) * CHANNELS * half_plane + index_of(y, x, half_width);
    for (int c = 0; c < CHANNELS; c++) coarse[c * half_plane] = out[c];
}

// tile: CHANNELS · (Ly/2 + 5) · (Lx/2 + 5) floats: the coarse pixels that Lx × Ly fine ones need, for odd sizes too.
__kernel void up(__global const float *coarse, __global const float *fine, __global float *out,
                 __global uint *not_finite, int height, int width, float2 knee, float own, float scale,
                 __local float *tile) {
    int half_width = (width + 1) / 2, half_height = (height + 1) / 2;
    int lx = get_local_size(0), ly = get_local_size(1), i = get_local_id(0), j = get_local_id(1);
    int x0 = get_group_id(0) * lx, y0 = get_group_id(1) * ly;
    int columns = lx / 2 + 5, rows = ly / 2 + 5, tile_plane = rows * columns;
    size_t plane = (size_t)height * width, half_plane = (size_t)half_height * half_width;
    coarse += get_global_id(2) * CHANNELS * half_plane;

    for (int t = j * lx + i; t < tile_plane; t += lx * ly) {
        int row = t / columns, column = t % columns;
        size_t at = index_of(border_index(y0 / 2 - 2 + row, half_height),
                             border_index(x0 / 2 - 2 + column, half_width), half_width);
        for (int c = 0; c < CHANNELS; c++) tile[c * tile_plane + t] = coarse[c * half_plane + at];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    int x = x0 + i, y = y0 + j;
    if (x >= width || y >= height) return;
    // Four taps an axis, from the tile's first: 2i and 2i + 1 have the same ones mirrored.
    const float even[4] = {1, 5, 7, 3};
    __local const float *near = tile + (y / 2 - y0 / 2 + (y & 1)) * columns + x / 2 - x0 / 2 + (x & 1);
    size_t at = get_global_id(2) * CHANNELS * plane + index_of(y, x, width);
    float v[CHANNELS];
    for (int c = 0; c < CHANNELS; c++) v[c] = fine[c * plane + at];
#ifdef FINAL
    if (!to_light(v, knee)) atomic_inc(not_finite);
#endif
    for (int c = 0; c < CHANNELS; c++) {
        float glow = 0.0f;
        for (int r = 0; r < 4; r++) {
            float sum = 0.0f;
            for (int k = 0; k < 4; k++)
                sum += even[x & 1 ? 3 - k : k] * near[c * tile_plane + r * columns + k];
            glow += even[y & 1 ? 3 - r : r] * sum;
        }
        glow *= 1.0f / 256.0f;
#ifdef FINAL
        out[c * plane + at] = lay_over(fine[c * plane + at], own * v[c] + scale * glow, c);
#else
        out[c * plane + at] = own * v[c] + scale * glow;
#endif
    }
}
#endif
