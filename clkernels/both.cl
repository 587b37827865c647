// A separable convolution along both axes at once, so that nothing in between goes through memory:
// out[y, x] = Σ_l wy[l + ry] · Σ_k wx[k + rx] · in[y + l, x + k],  l = −ry…ry, k = −rx…rx.
// `from`: the first element of the planes to read. Planar float (plane, row, column), dimension 2 counts planes.
// Border: see border.cl; outside (constant) counts as cval.
//
// -D BORDER_x
// GPUs:  -D RADIUS_Y=n -D RADIUS_X=n   -D ITEMS=n (of a group)   -D ROWS=n (at a time)
// CPUs:  -D STRIP=n (columns of a work-item, of 64s)   -D BAND=n (rows, of 4s)   -D REACH=n   radius_x at most

#define UNROLLED __attribute__((opencl_unroll_hint))

#ifdef ITEMS

// A group walks down TILE columns, ROWS rows at a time: these are fetched while those before are summed along x from local
// memory, four neighbouring columns in each work-item, which adds the sums to all results that they are part of; those are
// in its registers. Group: (ITEMS, 1, 1), for `band` rows.
#define TILE (ITEMS * 4)
#define SEGMENT (TILE + 2 * RADIUS_X)         // of a row
#define FETCHES ((SEGMENT + ITEMS - 1) / ITEMS)  // of a work-item in a row
#define PITCH ((FETCHES * ITEMS + 3) / 4)     // float4
#define NEAR ((4 + 2 * RADIUS_X + 3) / 4)     // float4 around a work-item's columns

static inline void fetch_rows(__global const float *in, int y, const int *column, int height, int width, float cval,
                              float v[ROWS][FETCHES]) {
    UNROLLED
    for (int r = 0; r < ROWS; r++) {
        int row = border_index(y + r, height);
        UNROLLED
        for (int f = 0; f < FETCHES; f++)
            v[r][f] = row < 0 || column[f] < 0 ? cval : in[(size_t)row * width + column[f]];
    }
}

__kernel void both_local(__global const float *in, __global const float *weights_y, __global const float *weights_x,
                         __global float *out, ulong from, int height, int width, int band, float cval) {
    __local float4 lines[ROWS * PITCH];
    int item = get_local_id(0), x0 = get_group_id(0) * TILE, y0 = get_group_id(1) * band, end = min(y0 + band, height);
    in += from + get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)height * width;
    float wy[RADIUS_Y + 1], wx[RADIUS_X + 1], next[ROWS][FETCHES];
    int column[FETCHES];
    float4 sums[ROWS + 2 * RADIUS_Y];
    UNROLLED
    for (int k = 0; k <= RADIUS_Y; k++) wy[k] = weights_y[k];
    UNROLLED
    for (int k = 0; k <= RADIUS_X; k++) wx[k] = weights_x[k];
    UNROLLED
    for (int k = 0; k < 2 * RADIUS_Y; k++) sums[k] = 0.0f;
    UNROLLED
    for (int f = 0; f < FETCHES; f++) column[f] = border_index(x0 - RADIUS_X + item + f * ITEMS, width);
    fetch_rows(in, y0 - RADIUS_Y, column, height, width, cval, next);
    for (int y = y0 - RADIUS_Y; y < end + RADIUS_Y; y += ROWS) {
        UNROLLED
        for (int r = 0; r < ROWS; r++)
            UNROLLED
            for (int f = 0; f < FETCHES; f++) ((__local float *)(lines + r * PITCH))[item + f * ITEMS] = next[r][f];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (y + ROWS < end + RADIUS_Y) fetch_rows(in, y + ROWS, column, height, width, cval, next);
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
        UNROLLED
        for (int r = 0; r < ROWS; r++) {  // of the result's rows, those that have met all theirs
            int row = y + r - RADIUS_Y, x = x0 + item * 4;
            if (row < y0 || row >= end) continue;
            __global float *to = out + (size_t)row * width + x;
            if (width % 4 == 0) {
                if (x < width) *(__global float4 *)to = sums[r];
            } else {
                if (x < width) to[0] = sums[r].x;
                if (x + 1 < width) to[1] = sums[r].y;
                if (x + 2 < width) to[2] = sums[r].z;
                if (x + 3 < width) to[3] = sums[r].w;
            }
        }
        UNROLLED
        for (int k = 0; k < 2 * RADIUS_Y; k++) sums[k] = sums[k + ROWS];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#else

static inline float sample(__global const float *in, size_t base, int i, int n, float cval) {
    int j = border_index(i, n);
    return j < 0 ? cval : in[base + j];
}

static inline void store16(float16 v, __global float *p, int count) {
    if (count >= 16) {
        vstore16(v, 0, p);
    } else {
        float s[16];
        vstore16(v, 0, s);
        for (int i = 0; i < count; i++) p[i] = s[i];
    }
}

// Four rows at a time, down the columns into local memory, and from there along the rows.
// Global: (ceil(width / STRIP), ceil(height / BAND), planes), groups of one.
#define PITCH (STRIP + 2 * REACH + 64)

// Results (y … y + 3, x … x + 15) down the columns, which may lie beyond the edges.
static inline void down(__global const float *in, __global const float *weights, int y, int x, int height, int width,
                        int radius, float cval, float16 *sums) {
    int taps = 2 * radius + 1, inside = x >= 0 && x + 16 <= width;
    UNROLLED
    for (int m = 0; m < 4; m++) sums[m] = 0.0f;
    for (int k = 0; k < taps + 3; k++) {
        if (k == 3 && inside && y + 3 >= radius && y + 3 + radius < height) {  // nothing to ask until the last three
            __global const float *p = in + (size_t)(y + k - radius) * width + x;
            for (; k < taps; k++, p += width) {
                float16 v = vload16(0, p);
                UNROLLED
                for (int m = 0; m < 4; m++) sums[m] = fma((float16)weights[k - m], v, sums[m]);
            }
        }
        int j = border_index(y + k - radius, height);
        float16 v = cval;
        if (j >= 0 && inside) {
            v = vload16(0, in + (size_t)j * width + x);
        } else if (j >= 0) {
            float s[16];
            for (int l = 0; l < 16; l++) s[l] = sample(in, (size_t)j * width, x + l, width, cval);
            v = vload16(0, s);
        }
        UNROLLED
        for (int m = 0; m < 4; m++)
            if (k >= m && k < taps + m) sums[m] = fma((float16)weights[k - m], v, sums[m]);
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void both_direct(__global const float *in, __global const float *weights_y, __global const float *weights_x,
                 __global float *out, ulong from, int height, int width, int radius_y, int radius_x, float cval) {
    __local float lines[4 * PITCH];
    int x0 = get_global_id(0) * STRIP, count = min(STRIP, width - x0), y0 = get_global_id(1) * BAND;
    in += from + get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)height * width + x0;
    for (int y = y0; y < min(y0 + BAND, height); y += 4) {
        for (int f = 0; f < count + 2 * radius_x; f += 16) {
            float16 sums[4];
            down(in, weights_y, y, x0 - radius_x + f, height, width, radius_y, cval, sums);
            UNROLLED
            for (int m = 0; m < 4; m++) vstore16(sums[m], 0, lines + m * PITCH + f);
        }
        for (int m = 0; m < min(4, height - y); m++)
            for (int f = 0; f < count; f += 64) {
                float16 sums[4];
                UNROLLED
                for (int q = 0; q < 4; q++) sums[q] = 0.0f;
                for (int k = 0; k <= 2 * radius_x; k++) {
                    UNROLLED
                    for (int q = 0; q < 4; q++)
                        sums[q] = fma((float16)weights_x[k], vload16(q, lines + m * PITCH + f + k), sums[q]);
                }
                for (int q = 0; q < 4 && f + 16 * q < count; q++)
                    store16(sums[q], out + (size_t)(y + m) * width + f + 16 * q, count - f - 16 * q);
            }
    }
}
#endif
