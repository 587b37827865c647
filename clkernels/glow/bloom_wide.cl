// The mip chain of bloom, as in bloom_down.cl, directly from global memory, for CPUs: a work-item makes 8 (down) or 16
// × 2 (up) results. The file stands after border.cl, bloom.cl and bloom_boxes.cl, with -D WIDE.
//   down_wide:  makes a level from the one before
//   up_wide:    out = own · fine + scale · tent(coarse)       (out may be fine: each work-item reads what it writes)
//
// -D FIRST   makes down_wide read the image as its light, and weigh the boxes; there is no up_wide
// -D FINAL   is for up_wide alone, and makes it give out = image + own · light + scale · tent(coarse); not_finite[0] counts pixels
//
// A work-item handles CHANNELS planes; dimension 2 counts such blocks of planes. Groups may have any size.
// Global: (ceil(width / 8), height) of the half image for down, (ceil(width / 16), ceil(height / 2)) for up.

static inline size_t index_of(int row, int column, int width) { return (size_t)row * width + column; }

#define BOXES 5  // boxes of a pixel's filter

// Adds row r = 0…5 of six pixels to the sums of the boxes: middle, top left, top right, bottom left, bottom right.
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

// Mixes the boxes, each the sum of 16 pixels, BOXES for each plane, to the planes' results.
static inline void mix(const boxes_t *box, boxes_t *out, float karis) {
    boxes_t weight[BOXES], total = 0.0f;
    for (int b = 0; b < BOXES; b++) {
        weight[b] = (b ? 1.0f : 4.0f) * weight_of(box + b, BOXES, karis);
        total += weight[b];
    }
    boxes_t scale = 0.0625f / total;
    for (int c = 0; c < CHANNELS; c++) {
        boxes_t sum = 0.0f;
        for (int b = 0; b < BOXES; b++) sum += weight[b] * box[BOXES * c + b];
        out[c] = scale * sum;
    }
}

static inline float8 row8(__global const float *row, int x, int width) {
    if (x >= 0 && x + 8 <= width) return vload8(0, row + x);
    float s[8];
#pragma unroll 1
    for (int i = 0; i < 8; i++) s[i] = row[border_column(x + i, width)];
    return vload8(0, s);
}

static inline float16 row16(__global const float *row, int x, int width) {
    if (x >= 0 && x + 16 <= width) return vload16(0, row + x);
    float s[16];
#pragma unroll 1
    for (int i = 0; i < 16; i++) s[i] = row[border_column(x + i, width)];
    return vload16(0, s);
}

static inline float16 first16(__global const float *p, int count) {  // the last value is repeated beyond `count`
    if (count >= 16) return vload16(0, p);
    float s[16];
    for (int i = 0; i < 16; i++) s[i] = p[min(i, count - 1)];
    return vload16(0, s);
}

#ifndef FINAL
__kernel void down_wide(__global const float *fine, __global float *coarse, int height, int width, float2 knee,
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
        float16 p[3][CHANNELS];  // 16 pixels each, from 2x − 2, 2x and 2x + 2 on
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

#endif

// Interpolates rows 2y and 2y + 1, columns 2x … 2x + 15 of the doubled plane.
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

#ifndef FIRST
__kernel void up_wide(__global const float *coarse, __global const float *fine, __global float *out,
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
            vstore16(lay_over(to_finite(image[c]), own * v[c] + scale * glow[c][r], c), 0, s);
#else
            vstore16(own * v[c] + scale * glow[c][r], 0, s);
#endif
            for (int i = 0; i < count; i++) out[c * plane + index_of(y + r, x + i, width)] = s[i];
        }
    }
}
#endif
