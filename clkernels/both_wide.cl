// both.cl for the vectors of a CPU, planar float: see there. Pixels: both_pixels.cl.
//
// -D BORDER_x
// -D STRIP=n (columns of a work-item, of 64s)   -D BAND=n (rows, of 4s)   -D REACH=n   radius_x at most

#define UNROLLED __attribute__((opencl_unroll_hint))

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
