// The pixels that differ visibly, as the program pixelmatch 7.2 counts them, without those that differ by
// anti-aliasing. Pixels are RGBA of 8 bits, a pixel in a uint.
//
//   A pixel differs if δ > limit, where δ = 0.5053 y² + 0.299 i² + 0.1957 q² and y, i, q are the YIQ of the difference
//   of the two colours over a background (Y. Kotsarenko, F. Ramos, "Measuring perceived color difference using YIQ NTSC
//   transmission color space in mobile applications", Programación Matemática y Software 2, 2010).
//   It is anti-aliased if it is so in either picture (V. Vyšniauskas, "Anti-aliased pixel and intensity slope
//   detector", Elektronika ir Elektrotechnika 95, 2009): of its neighbours at most two are as bright, some are darker
//   and some brighter, and the darkest or the brightest has three or more neighbours of its own colour in both
//   pictures. Beyond the border is one more neighbour of the same colour.
//
// All of it is exact, in whole numbers: colours over the background times 255, the decimals of YIQ times 10^8 and those
// of δ times 10^4.
//
// -D WIDTH=1|8   so many pixels are looked at together
// -D WHITE       the background is white; without it, a pattern that depends on the place
// -D ALIASED     pixels that differ by anti-aliasing count too
// -D MASK        what the pixels are is stored, in `mask`

enum { SAME = 0, DIFFERENT = 1, ANTIALIASED = 2 };  // what a pixel is

// k / d rounded to a double, and then down, given 2^64 / d: a double of 53 bits rounds up what is just below a number.
static inline int whole_quotient(ulong k, ulong reciprocal) {
    ulong whole = mul_hi(k, reciprocal), rest = k * reciprocal;
    return (int)(whole + (whole && rest > ULONG_MAX - (1UL << (74 - (int)clz(whole)))));
}

// The background of the pixel at a place, a pattern of dark and light: with k = 4 · place, green is dark where ⌊k / φ⌋
// is even, blue where ⌊k / φ²⌋ is, for the golden ratio φ as a double. The numbers are 2^64 / φ and 2^64 / φ².
static inline int4 background(ulong place) {
#ifdef WHITE
    return (int4)(255, 255, 255, 0);
#else
    ulong k = 4 * place;
    return (int4)(48, 48 + 159 * (whole_quotient(k, 0x9e3779b97f4a7a97UL) & 1),
                  48 + 159 * (whole_quotient(k, 0x61c8864680b58358UL) & 1), 0);
#endif
}

// The difference of two pixels over a background, times 255.
static inline int4 difference(uint p, uint q, int4 behind) {
    int4 v = convert_int4(as_uchar4(p)), w = convert_int4(as_uchar4(q));
    return v * v.w - w * w.w - behind * (v.w - w.w);
}

static inline long weighted(int4 d, int x, int y, int z) {
    return (long)d.x * x + (long)d.y * y + (long)d.z * z;
}

static inline long brightness(int4 d) { return weighted(d, 29889531, 58662247, 11448223); }

// sum + weight · v², of numbers of 128 bits: (low, high).
static inline ulong2 add_square(ulong2 sum, ulong weight, long v) {
    ulong low = (ulong)v * (ulong)v, high = (ulong)mul_hi(v, v);
    high = high * weight + mul_hi(low, weight);
    low *= weight;
    ulong total = sum.x + low;
    return (ulong2)(total, sum.y + high + (total < low));
}

// δ in float, times 255². Sums of three products with six digits each leave it within 0.1 % + 100.
static inline float rough_delta(int4 d) {
    float4 v = convert_float4(d);
    float y = 0.29889531f * v.x + 0.58662247f * v.y + 0.11448223f * v.z;
    float i = 0.59597799f * v.x - 0.27417610f * v.y - 0.32180189f * v.z;
    float q = 0.21147017f * v.x - 0.52261711f * v.y + 0.31114694f * v.z;
    return 0.5053f * y * y + 0.299f * i * i + 0.1957f * q * q;
}

static inline int exceeds(int4 d, float rough_limit, ulong2 limit) {
    float rough = rough_delta(d);
    if (fabs(rough - rough_limit) > 0.001f * rough_limit + 100.0f) return rough > rough_limit;
    ulong2 delta = add_square((ulong2)(0, 0), 5053, brightness(d));
    delta = add_square(delta, 2990, weighted(d, 59597799, -27417610, -32180189));
    delta = add_square(delta, 1957, weighted(d, 21147017, -52261711, 31114694));
    return delta.y > limit.y || (delta.y == limit.y && delta.x > limit.x);
}

static inline int at_border(int x, int y, int width, int height) {
    return x == 0 || y == 0 || x == width - 1 || y == height - 1;
}

// Says whether a pixel has three or more neighbours of its colour.
static inline int among_equals(__global const uint *image, int x, int y, int width, int height) {
    uint own = image[(size_t)y * width + x];
    int equal = at_border(x, y, width, height);
    for (int v = max(y - 1, 0); v <= min(y + 1, height - 1); v++)
        for (int u = max(x - 1, 0); u <= min(x + 1, width - 1); u++)
            equal += (u != x || v != y) && image[(size_t)v * width + u] == own;
    return equal > 2;
}

// Says whether a pixel of `image` is anti-aliased. Neighbours are taken column by column; of equally bright ones the
// first counts.
static inline int antialiased(__global const uint *image, __global const uint *other, int x, int y, int width,
                              int height, ulong offset) {
    size_t place = (size_t)y * width + x;
    int4 behind = background(offset + place);
    int equal = at_border(x, y, width, height);
    long least = 0, most = 0;
    int2 darkest = 0, brightest = 0;
    for (int u = max(x - 1, 0); u <= min(x + 1, width - 1); u++) {
        for (int v = max(y - 1, 0); v <= min(y + 1, height - 1); v++) {
            if (u == x && v == y) continue;
            long d = brightness(difference(image[place], image[(size_t)v * width + u], behind));
            equal += d == 0;
            if (equal > 2) return 0;
            if (d < least) {
                least = d;
                darkest = (int2)(u, v);
            } else if (d > most) {
                most = d;
                brightest = (int2)(u, v);
            }
        }
    }
    if (least == 0 || most == 0) return 0;
    return (among_equals(image, darkest.x, darkest.y, width, height) &&
            among_equals(other, darkest.x, darkest.y, width, height)) ||
           (among_equals(image, brightest.x, brightest.y, width, height) &&
            among_equals(other, brightest.x, brightest.y, width, height));
}

static inline int kind_of(__global const uint *a, __global const uint *b, uint i, int width, int height, ulong offset,
                          float rough_limit, ulong2 limit) {
    if (a[i] == b[i] || !exceeds(difference(a[i], b[i], background(offset + i)), rough_limit, limit)) return SAME;
#ifndef ALIASED
    int x = i % width, y = i / width;
    if (antialiased(a, b, x, y, width, height, offset) || antialiased(b, a, x, y, width, height, offset))
        return ANTIALIASED;
#endif
    return DIFFERENT;
}

// A group of any size takes `span` neighbouring pixels, a multiple of WIDTH. partial: for each group the numbers of
// pixels that are different and anti-aliased. Pixels begin … stop count, and `mask` has these; the others are neighbours.
// offset: the place of the first pixel in the picture that these are rows of.
__kernel void pixelmatch(__global const uint *a, __global const uint *b, __global uint *partial, __global uchar *mask,
                         int width, int height, uint begin, uint stop, uint span, ulong offset, float rough_limit,
                         ulong2 limit) {
    __local uint counts[2];
    int item = get_local_id(0), items = get_local_size(0);
    uint first = begin + get_group_id(0) * span, end = first + min(span, stop - first);
    if (item == 0) counts[0] = counts[1] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint different = 0, aliased = 0;
    for (uint i = first + item * WIDTH; i < end; i += items * WIDTH) {
        uint last = min(i + WIDTH, end);
#if WIDTH == 8
        if (last == i + WIDTH && all(vload8(0, a + i) == vload8(0, b + i))) {
#ifdef MASK
            vstore8((uchar8)SAME, 0, mask + (i - begin));
#endif
            continue;
        }
#endif
        for (uint k = i; k < last; k++) {
            int kind = kind_of(a, b, k, width, height, offset, rough_limit, limit);
            different += kind == DIFFERENT;
            aliased += kind == ANTIALIASED;
#ifdef MASK
            mask[k - begin] = kind;
#endif
        }
    }
    atomic_add(&counts[0], different);
    atomic_add(&counts[1], aliased);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) vstore2((uint2)(counts[0], counts[1]), get_group_id(0), partial);
}
