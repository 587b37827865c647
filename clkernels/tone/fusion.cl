// Exposure fusion: T. Mertens, J. Kautz, F. Van Reeth, "Exposure Fusion" (Pacific Graphics 2007), and the pyramids of
// P. Burt and E. Adelson (1983). Images are planar float (plane, row, column); this stands after border.cl, whose mode is
// BORDER_MIRROR. One work-item takes a pixel of one plane, or of all where nothing else is said; groups have any size.
//
// -D COLOURS=1|3   (luma and weigh) are the planes that are colours
// -D ALPHA         (weigh) says that the plane behind them is alpha

#ifdef COLOURS
// Luma of Rec. ITU-R BT.601.
static inline float luma_at(__global const float *in, size_t size, size_t i) {
#if COLOURS == 3
    return 0.299f * in[i] + 0.587f * in[size + i] + 0.114f * in[2 * size + i];
#else
    return in[i];
#endif
}

static inline float power(float v, float exponent) {  // which is 1 for most
    return exponent == 1.0f ? v : pow(v, exponent);
}

__kernel void luma(__global const float *in, __global float *out, int width, int height) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    const size_t i = (size_t)y * width + x;
    out[i] = luma_at(in, (size_t)width * height, i);
}

// The weight of each pixel, contrast^powers.x · saturation^powers.y · exposedness^powers.z + least (equation 1), where the
// rectangle `seen` (left, top, right, bottom) has the picture, and 0 beside it; alpha multiplies it. Contrast is the
// magnitude of the luma's Laplacian, saturation the standard deviation of the colours, and exposedness a Gaussian of each
// of them about 1/2. total receives the weight, or with `more` its sum with what is there.
__kernel void weigh(__global const float *in, __global float *weight, __global float *total, int width, int height,
                    int4 seen, float4 powers, float sharpness, float least, int more) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    const size_t size = (size_t)width * height, i = (size_t)y * width + x;
    const size_t above = (size_t)border_index(y - 1, height) * width + x;
    const size_t below = (size_t)border_index(y + 1, height) * width + x;
    const size_t left = (size_t)y * width + border_index(x - 1, width);
    const size_t right = (size_t)y * width + border_index(x + 1, width);
    const float around = luma_at(in, size, above) + luma_at(in, size, below) + luma_at(in, size, left) +
                         luma_at(in, size, right);
    float mean = 0.0f, off = 0.0f, spread = 0.0f;
    for (int c = 0; c < COLOURS; c++) mean += in[c * size + i] / COLOURS;
    for (int c = 0; c < COLOURS; c++) {
        const float v = in[c * size + i];
        spread += (v - mean) * (v - mean) / COLOURS;
        off += (v - 0.5f) * (v - 0.5f);
    }
    float w = power(fabs(around - 4.0f * luma_at(in, size, i)), powers.x) * exp(-sharpness * powers.z * off);
    if (COLOURS > 1) w *= power(sqrt(spread), powers.y);
    w += least;
#ifdef ALPHA
    w *= in[COLOURS * size + i];
#endif
    if (x < seen.x || y < seen.y || x >= seen.z || y >= seen.w) w = 0.0f;
    weight[i] = w;
    total[i] = more ? total[i] + w : w;
}
#endif

// The image whose pixel (y, x) is that of `in` at (y + down, x + right); its edges go on beyond it.
__kernel void shifted(__global const float *in, __global float *out, int width, int height, int planes,
                      int down, int right) {
    const int x = get_global_id(0), y = get_global_id(1), plane = get_global_id(2);
    if (x >= width || y >= height || plane >= planes) return;
    const size_t from = (size_t)plane * height + clamp(y + down, 0, height - 1);
    out[((size_t)plane * height + y) * width + x] = in[from * width + clamp(x + right, 0, width - 1)];
}

// Weights as shares of their total. Where no picture has any weight, each has the share `alike`.
__kernel void share(__global float *weight, __global const float *total, ulong size, float alike) {
    const size_t i = get_global_id(0);
    if (i < size) weight[i] = total[i] > 0.0f ? weight[i] / total[i] : alike;
}

// The pyramid's filter (1 4 6 4 1) / 16, by the distance from its middle.
static inline float tap(int k) {
    return k == 0 ? 0.375f : abs(k) == 1 ? 0.25f : 0.0625f;
}

// The next level (planes, (height + 1) / 2, (width + 1) / 2): filtered, and every other sample along both axes.
__kernel void reduce(__global const float *in, __global float *out, int width, int height, int planes) {
    const int x = get_global_id(0), y = get_global_id(1), plane = get_global_id(2);
    const int columns = (width + 1) / 2, rows = (height + 1) / 2;
    if (x >= columns || y >= rows || plane >= planes) return;
    float sum = 0.0f;
    for (int dy = -2; dy <= 2; dy++) {
        const size_t row = (size_t)plane * height + border_index(2 * y + dy, height);
        float across = 0.0f;
        for (int dx = -2; dx <= 2; dx++) across += tap(dx) * in[row * width + border_index(2 * x + dx, width)];
        sum += tap(dy) * across;
    }
    out[((size_t)plane * rows + y) * columns + x] = sum;
}

// A sample of the next level in the size of this one: zeros stand between its samples, at odd places, and the filter is
// twice as large along each axis. The border's mode leaves even places even.
static inline float expanded(__global const float *coarse, int plane, int y, int x, int width, int height) {
    const int columns = (width + 1) / 2, rows = (height + 1) / 2;
    float sum = 0.0f;
    for (int dy = -2 + (y & 1); dy <= 2; dy += 2) {
        const size_t row = (size_t)plane * rows + border_index(y + dy, height) / 2;
        float across = 0.0f;
        for (int dx = -2 + (x & 1); dx <= 2; dx += 2)
            across += 2.0f * tap(dx) * coarse[row * columns + border_index(x + dx, width) / 2];
        sum += 2.0f * tap(dy) * across;
    }
    return sum;
}

// A level's share in the result: weight · (fine − expanded coarse), with `last` weight · fine, for which coarse is not
// read; with `more` added to what is there.
__kernel void blend(__global const float *fine, __global const float *coarse, __global const float *weight,
                    __global float *result, int width, int height, int planes, int last, int more) {
    const int x = get_global_id(0), y = get_global_id(1), plane = get_global_id(2);
    if (x >= width || y >= height || plane >= planes) return;
    const size_t pixel = (size_t)y * width + x, i = (size_t)plane * height * width + pixel;
    const float detail = last ? fine[i] : fine[i] - expanded(coarse, plane, y, x, width, height);
    const float v = weight[pixel] * detail;
    result[i] = more ? result[i] + v : v;
}

// Adds the next level to the details of this one.
__kernel void collapse(__global const float *coarse, __global float *level, int width, int height, int planes) {
    const int x = get_global_id(0), y = get_global_id(1), plane = get_global_id(2);
    if (x >= width || y >= height || plane >= planes) return;
    level[((size_t)plane * height + y) * width + x] += expanded(coarse, plane, y, x, width, height);
}
