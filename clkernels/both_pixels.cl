// both.cl for the vectors of a CPU, from a file's pixels to such pixels: see there. After load_sixteen.cl and
// store_sixteen.cl. (Planar float needs no ring: both_wide.cl, which is up to twice as fast for small radii.)
//
// -D BORDER_x   -D STRIP=n   columns of a work-item, which is a group; it has `band` rows

// Rows are decoded once, into a ring of as many as four results down the columns are made of; these go along the rows.
// lines: (2·radius_y + 8) · PITCH. lost: see encode.cl.
#define PITCH ((STRIP + 2 * radius_x) * INTERLEAVED + 64)

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void both_pixels(__global const PIXEL *in, __global const float *weights_y, __global const float *weights_x,
                 __global PIXEL *out, int height, int width, int band, int radius_y, int radius_x, float cval,
                 __global const float *lights, float scale, __global const uint *codes, __global uint *lost,
                 __local float *lines) {
    int x0 = get_global_id(0) * STRIP, y0 = get_global_id(1) * band, end = min(y0 + band, height);
    int pitch = width * INTERLEAVED, left = (x0 - radius_x) * INTERLEAVED;
    int count = min(STRIP, width - x0) * INTERLEAVED, span = count + 2 * radius_x * INTERLEAVED;
    int taps = 2 * radius_y + 1, keep = taps + 3, next = y0 - radius_y;
    INT losses[2] = {0, 0};
    __local float *down = lines + keep * PITCH;
    for (int y = y0; y < end; y += 4) {
        for (; next < y + 4 + radius_y; next++) {
            int row = border_index(next, height);
            __local float *line = lines + (next - y0 + radius_y) % keep * PITCH;
            for (int f = 0; f < span; f += 16) {
                float16 v = cval;
                if (row >= 0) v = sixteen(in + (size_t)row * pitch, left + f, width, cval, lights, scale);
                vstore16(v, 0, line + f);
            }
        }
        int first = (y - y0) % keep;  // of the ring
        for (int f = 0; f < span; f += 16) {
            float16 sums[4];
            UNROLLED
            for (int m = 0; m < 4; m++) sums[m] = 0.0f;
            __local const float *line = lines + first * PITCH + f, *last = lines + (keep - 1) * PITCH + f;
            for (int k = 0; k < keep; k++) {
                float16 v = vload16(0, line);
                line = line == last ? lines + f : line + PITCH;
                if (k >= 3 && k < taps) {
                    UNROLLED
                    for (int m = 0; m < 4; m++) sums[m] = fma((float16)weights_y[k - m], v, sums[m]);
                } else {
                    UNROLLED
                    for (int m = 0; m < 4; m++)
                        if (k >= m && k < taps + m) sums[m] = fma((float16)weights_y[k - m], v, sums[m]);
                }
            }
            UNROLLED
            for (int m = 0; m < 4; m++) vstore16(sums[m], 0, down + m * PITCH + f);
        }
        for (int m = 0; m < min(4, end - y); m++)
            for (int f = 0; f < count; f += 64) {
                float16 sums[4];
                UNROLLED
                for (int q = 0; q < 4; q++) sums[q] = 0.0f;
                for (int k = 0; k <= 2 * radius_x; k++) {
                    UNROLLED
                    for (int q = 0; q < 4; q++)
                        sums[q] = fma((float16)weights_x[k], vload16(q, down + m * PITCH + f + k * INTERLEAVED), sums[q]);
                }
                __global PIXEL *to = out + (size_t)(y + m) * pitch + x0 * INTERLEAVED + f;
                for (int q = 0; q < 4 && f + 16 * q < count; q++)
                    store_sixteen(sums[q], to + 16 * q, count - f - 16 * q, codes, losses);
            }
    }
    for (int k = 0; k < 2; k++) {
        int sum = lanes_sum(losses[k]);
        if (sum) atomic_add(&lost[k], (uint)sum);
    }
}
