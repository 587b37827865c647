// Exposure fusion: T. Mertens, J. Kautz, F. Van Reeth, "Exposure Fusion" (Pacific Graphics 2007), and the pyramids of
// P. Burt and E. Adelson (1983). Images are planar float (plane, row, column), mirrored about their first and last samples.
// One work-item takes a pixel of one plane, or of all where nothing else is said; groups have any size.
//
// -D COLOURS=1|3   (luma and weigh) are the planes that are colours
// -D ALPHA         (weigh) says that the plane behind them is alpha
// -D POWERS        (weigh) says that some exponent is not 1
// -D TALL          is the number of rows that a work-item of reduce takes

// The place of a mirrored sample at most two beyond an end of n, where there are so many.
static inline int mirrored(int i, int n) {
    const int inside = abs(i);
    return max(min(inside, 2 * (n - 1) - inside), 0);
}

#ifdef COLOURS
// Luma of Rec. ITU-R BT.601.
static inline float luma_at(__global const float *in, size_t size, size_t i) {
#if COLOURS == 3
    return 0.299f * in[i] + 0.587f * in[size + i] + 0.114f * in[2 * size + i];
#else
    return in[i];
#endif
}

static inline float power(float v, float exponent) {
#ifdef POWERS
    return pow(v, exponent);
#else
    return v;
#endif
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
    const size_t above = (size_t)mirrored(y - 1, height) * width + x;
    const size_t below = (size_t)mirrored(y + 1, height) * width + x;
    const size_t left = (size_t)y * width + mirrored(x - 1, width);
    const size_t right = (size_t)y * width + mirrored(x + 1, width);
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

// The pyramid's filter (1 4 6 4 1) / 16.
static inline float filtered(float a, float b, float c, float d, float e) {
    return 0.0625f * (a + e) + 0.25f * (b + d) + 0.375f * c;
}

// A row filtered around an even column, from the places of five samples.
static inline float across(__global const float *row, int a, int b, int c, int d, int e) {
    return filtered(row[a], row[b], row[c], row[d], row[e]);
}

// The next level (planes, (height + 1) / 2, (width + 1) / 2): filtered, and every other sample along both axes. A work-item
// takes TALL rows of a column, so that it filters each row of the image once for all of them.
__kernel void reduce(__global const float *in, __global float *out, int width, int height, int planes) {
    const int x = get_global_id(0), first = get_global_id(1) * TALL, plane = get_global_id(2);
    const int columns = (width + 1) / 2, rows = (height + 1) / 2;
    if (x >= columns || first >= rows || plane >= planes) return;
    const int b = mirrored(2 * x - 1, width), d = mirrored(2 * x + 1, width);
    const int a = mirrored(2 * x - 2, width), e = mirrored(2 * x + 2, width);
    const size_t top = (size_t)plane * height;
#define ROW(y) across(in + (top + mirrored(y, height)) * width, a, b, 2 * x, d, e)
    float above = ROW(2 * first - 2), before = ROW(2 * first - 1), here = ROW(2 * first);
    for (int y = first; y < min(first + TALL, rows); y++) {
        const float after = ROW(2 * y + 1), below = ROW(2 * y + 2);
        out[((size_t)plane * rows + y) * columns + x] = filtered(above, before, here, after, below);
        above = here, before = after, here = below;
    }
#undef ROW
}

// Two samples at an even place and behind it, expanded from the ones of the next level around: zeros stand between its
// samples, at odd places, and the filter is twice as large.
static inline float2 between(float before, float here, float after) {
    return (float2)(0.125f * (before + after) + 0.75f * here, 0.5f * (here + after));
}

// The samples of a block of 2 × 2, row by row, expanded from the next level along both axes; (y, x) is its place there.
static inline float4 expanded(__global const float *coarse, int plane, int y, int x, int width, int height) {
    const int columns = (width + 1) / 2, rows = (height + 1) / 2;
    const int left = mirrored(2 * x - 2, width) / 2, right = mirrored(2 * x + 2, width) / 2;
    const int above = mirrored(2 * y - 2, height) / 2, below = mirrored(2 * y + 2, height) / 2;
    __global const float *level = coarse + (size_t)plane * rows * columns;
    __global const float *a = level + (size_t)above * columns, *b = level + (size_t)y * columns;
    __global const float *c = level + (size_t)below * columns;
    const float2 top = between(a[left], a[x], a[right]), middle = between(b[left], b[x], b[right]);
    const float2 bottom = between(c[left], c[x], c[right]);
    const float2 even = between(top.x, middle.x, bottom.x), odd = between(top.y, middle.y, bottom.y);
    return (float4)(even.x, odd.x, even.y, odd.y);
}

// A level's share in the result: weight · (fine − expanded coarse), with `more` added to what is there. One work-item takes
// a block of 2 × 2.
__kernel void blend(__global const float *fine, __global const float *coarse, __global const float *weight,
                    __global float *result, int width, int height, int planes, int more) {
    const int x = get_global_id(0), y = get_global_id(1), plane = get_global_id(2);
    if (2 * x >= width || 2 * y >= height || plane >= planes) return;
    const float4 smooth = expanded(coarse, plane, y, x, width, height);
    const size_t pixel = 2 * ((size_t)y * width + x), i = (size_t)plane * height * width + pixel;
    const int wide = 2 * x + 1 < width, tall = 2 * y + 1 < height;
#define BLEND(at, sample)                                                                \
    result[i + (at)] = (more ? result[i + (at)] : 0.0f) + weight[pixel + (at)] * (fine[i + (at)] - (sample))
    BLEND(0, smooth.x);
    if (wide) BLEND(1, smooth.y);
    if (tall) BLEND(width, smooth.z);
    if (wide && tall) BLEND(width + 1, smooth.w);
#undef BLEND
}

// The share of the coarsest level, which is weight · fine.
__kernel void blend_top(__global const float *fine, __global const float *weight, __global float *result, int size,
                        int planes, int more) {
    const int i = get_global_id(0);
    if (i >= size * planes) return;
    result[i] = (more ? result[i] : 0.0f) + weight[i % size] * fine[i];
}

// Adds the next level to the details of this one. One work-item takes a block of 2 × 2.
__kernel void collapse(__global const float *coarse, __global float *level, int width, int height, int planes) {
    const int x = get_global_id(0), y = get_global_id(1), plane = get_global_id(2);
    if (2 * x >= width || 2 * y >= height || plane >= planes) return;
    const float4 smooth = expanded(coarse, plane, y, x, width, height);
    const size_t i = ((size_t)plane * height + 2 * y) * width + 2 * x;
    const int wide = 2 * x + 1 < width, tall = 2 * y + 1 < height;
    level[i] += smooth.x;
    if (wide) level[i + 1] += smooth.y;
    if (tall) level[i + width] += smooth.z;
    if (wide && tall) level[i + width + 1] += smooth.w;
}
