// Planes turned clockwise by an angle about their centres: out(x, y) = in(x₀ + x·c + y·s, y₀ − x·s + y·c), where c and s
// are its cosine and sine, and in's first pixel is at (0, 0).
//
// Between pixels stands the cubic through four neighbours, first down columns, then along rows (Keys, "Cubic convolution
// interpolation for digital image processing", 1981, a = −1/2, also named after Catmull and Rom), each time cut to the
// range of the four. So what is flat stays flat, and nothing overshoots. Beyond the edges every value is `outside`.
// Planar float (plane, row, column), one work-item a value; any group size. x0, y0, c and s are in units of 2^-32.

static inline float4 weights(long position) {
    float t = (uint)position * 0x1p-32f;
    return (float4)(t * (t * (1.0f - 0.5f * t) - 0.5f), t * t * (1.5f * t - 2.5f) + 1.0f,
                    t * (t * (2.0f - 1.5f * t) + 0.5f), t * t * (0.5f * t - 0.5f));
}

static inline float value(__global const float *row, int x, int width, float outside) {
    return x >= 0 && x < width ? row[x] : outside;
}

// Pixels x … x + 3 of row y.
static inline float4 neighbours(__global const float *in, int x, int y, int height, int width, float outside) {
    if (y < 0 || y >= height) return outside;
    __global const float *row = in + (size_t)y * width;
    if (x >= 0 && x + 4 <= width) return vload4(0, row + x);
    return (float4)(value(row, x, width, outside), value(row, x + 1, width, outside), value(row, x + 2, width, outside),
                    value(row, x + 3, width, outside));
}

__kernel void turn(__global const float *in, __global float *out, int height, int width, int rows, int columns, long x0,
                     long y0, long c, long s, float outside) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= columns || y >= rows) return;
    in += get_global_id(2) * (size_t)height * width;
    long across = x0 + x * c + y * s, down = y0 - x * s + y * c;
    int left = (int)(across >> 32) - 1, top = (int)(down >> 32) - 1;
    float4 row[4], w = weights(down);
    for (int k = 0; k < 4; k++) row[k] = neighbours(in, left, top + k, height, width, outside);
    float4 v = w.x * row[0] + w.y * row[1] + w.z * row[2] + w.w * row[3];
    float4 least = fmin(fmin(row[0], row[1]), fmin(row[2], row[3]));
    float4 most = fmax(fmax(row[0], row[1]), fmax(row[2], row[3]));
    v = select(v, least, v < least);  // a NaN is neither less nor more, and stays
    v = select(v, most, v > most);
    float low = fmin(fmin(v.x, v.y), fmin(v.z, v.w)), high = fmax(fmax(v.x, v.y), fmax(v.z, v.w));
    float result = dot(v, weights(across));
    result = result < low ? low : result > high ? high : result;
    out[(get_global_id(2) * rows + y) * columns + x] = result;
}
