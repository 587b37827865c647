// SSIMULACRA 2.1 (Jon Sneyers, Cloudinary: https://github.com/cloudinary/ssimulacra2, ssimulacra2.cc, BSD-3-Clause),
// the part of one scale. The file stands after lanes.cl, sums.cl and moments.cl.

// -- XYB ----------------------------------------------------------------------------------------------------------
// L, M, S = ∛(mix of R, G, B + bias), as in libjxl's opsin_params.h. From them come
//   X = 14 (L − M) / 2 + 0.42        Y = (L + M) / 2 − ∛bias + 0.01        B = S − (L + M) / 2 + 0.55
// Planes hold them less 0.42, Y_OFFSET and 0.55.

#define BIAS 0.0037930732552754493f
#define Y_OFFSET 0.354046f  // 0.51 − ∛bias

// The cube root of x ≥ 0, within 2 ulp: a third of the exponent, and two of Halley's steps. It is 1e-10 for less than
// 1e-30, and NaN for NaN and infinity.
static inline FLOAT cube_root(FLOAT x) {
    x = select(x, (FLOAT)1e-30f, x < 1e-30f);
    FLOAT y = AS_FLOAT(AS_INT(x) / 3 + 0x2a514067);  // within 4 %
    FLOAT cube = y * y * y;
    y *= (cube + 2.0f * x) / (2.0f * cube + x);
    cube = y * y * y;
    return fma(y, (x - cube) / (2.0f * cube + x), y);
}

static inline FLOAT mixed(const FLOAT rgb[3], float r, float g, float b) {
    return cube_root(fma(r, rgb[0], fma(g, rgb[1], fma(b, rgb[2], (FLOAT)BIAS))));
}

// Stores up to `count` pixels' X, Y and B in three planes of `size` values.
static inline void store_xyb(const FLOAT rgb[3], __global float *out, size_t size, int count) {
    FLOAT l = mixed(rgb, 0.3f, 0.622f, 0.078f), m = mixed(rgb, 0.23f, 0.692f, 0.078f);
    FLOAT s = mixed(rgb, 0.24342268924547819f, 0.20476744424496821f, 0.55180986650955360f), y = 0.5f * (l + m);
    store(7.0f * (l - m), out, count);
    store(y - 0.5f, out + size, count);
    store(s - y, out + 2 * size, count);
}

// The planes of XYB of both pictures (those of a, then those of b), and their linear RGB at half the size in the same
// order: means of 2 × 2 pixels, where edges are repeated. b begins at `from`, and its planes and those of a are
// `plane` values apart, 0 for gray. A work-item takes WIDTH such cells. smaller may be null. Values that are not finite
// but equal become 0; others that are not finite become NaN. Global: (cells of a row / WIDTH, rows of cells).
__kernel void xyb(__global const float *a, __global const float *b, __global float *out, __global float *smaller,
                  ulong from, ulong plane, int height, int width) {
    int cells = (width + 1) / 2, cell_rows = (height + 1) / 2;
    int x = get_global_id(0) * WIDTH, y = get_global_id(1);
    if (x >= cells || y >= cell_rows) return;
    b += from;
    size_t size = (size_t)height * width;
    FLOAT rgb[2][2][3], sums[2][3];  // by half of the cells' width, picture and channel
    for (int row = 0; row < 2; row++) {
        size_t first = (size_t)min(2 * y + row, height - 1) * width + 2 * x;
        UNROLLED
        for (int part = 0; part < 2; part++) {
            size_t at = first + part * WIDTH;
            int count = width - 2 * x - part * WIDTH;
            UNROLLED
            for (int c = 0; c < 3; c++) {
#if WIDTH == 1
                if (count < 1) at = first;
#endif
                FLOAT p = load(a + c * plane + at, count), q = load(b + c * plane + at, count);
                INT odd = isnan(p) | isinf(p) | isnan(q) | isinf(q);
                INT equal = isequal(p, q) | (isnan(p) & isnan(q));
                rgb[part][0][c] = select(p, select((FLOAT)NAN, (FLOAT)0.0f, equal), odd);
                rgb[part][1][c] = select(q, (FLOAT)0.0f, odd);
            }
            if (count > 0 && 2 * y + row < height) {
                store_xyb(rgb[part][0], out + at, size, count);
                store_xyb(rgb[part][1], out + 3 * size + at, size, count);
            }
        }
        UNROLLED
        for (int c = 0; c < 6; c++) {
            FLOAT sum = in_pairs(rgb[0][c / 3][c % 3], rgb[1][c / 3][c % 3]);
            sums[c / 3][c % 3] = row ? sums[c / 3][c % 3] + sum : sum;
        }
    }
    if (!smaller) return;
    UNROLLED
    for (int c = 0; c < 6; c++)
        store(0.25f * sums[c / 3][c % 3], smaller + ((size_t)c * cell_rows + y) * cells + x, cells - x);
}

// -- errors -------------------------------------------------------------------------------------------------------
// Windows are a Gaussian of σ 1.5, as libjxl's recursive one computes it: 9 taps, and 0 beyond the picture. With
// V = σa² + σb² − 2 σab and W = σa² + σb² + C2 a pixel has three errors:
//   structure   1 − (1 − (μa − μb)²) (2 σab + C2) / W = V / W + (μa − μb)² (1 − V / W)
//   ringing     max(t, 0), and blur max(−t, 0), with t = (1 + |b − μb|) / (1 + |a − μa|) − 1

#define C2 0.0009f
#define ERRORS 6  // sums: structure, its fourth power, and those of ringing and blur

// Values x … x + WIDTH − 1 of a row of n values; beyond its ends, and for no row, there is `outside`.
static inline FLOAT row_or(__global const float *row, int x, int n, int exists, float outside) {
#if WIDTH == 1
    return exists && x >= 0 && x < n ? row[x] : outside;
#else
    if (exists && x >= 0 && x + WIDTH <= n) return vload8(0, row + x);
    float v[WIDTH];
    for (int k = 0; k < WIDTH; k++) v[k] = exists && x + k >= 0 && x + k < n ? row[x + k] : outside;
    return vload8(0, v);
#endif
}

static inline FLOAT fourth(FLOAT x) {
    return x * x * (x * x);
}

// partial: for each group, the ERRORS sums of the rows first … end − 1, with their rounding errors. Groups and local
// memory are as in ssim.cl; dimension 2 counts X, Y and B. pictures: the planes of `xyb`.
__kernel void errors(__global const float *pictures, __global const float *weights, __global float2 *partial,
                     int height, int width, int first, int end, int strip, int length, int band,
                     __local float *lines, __local float *ring, __local float2 *sums) {
    int item = get_local_id(0) * WIDTH, step = get_local_size(0) * WIDTH, channel = get_group_id(2);
    int x0 = get_group_id(0) * strip, y0 = first + get_group_id(1) * band, y1 = min(y0 + band, end);
    int wide = min(strip, width - x0);
    float outside = channel == 0 ? -0.42f : channel == 1 ? -Y_OFFSET : -0.55f;
    __global const float *a = pictures + (size_t)channel * height * width, *b = a + 3 * (size_t)height * width;
    Total totals[ERRORS];
    UNROLLED
    for (int k = 0; k < ERRORS; k++) totals[k].sum = totals[k].lost = 0.0f;
    for (int r = 0, slot = 0; r < y1 - y0 + TAPS - 1; r++, slot = slot == TAPS - 1 ? 0 : slot + 1) {
        __local float *of_line = lines + (r & 1) * LINES * length, *newest = ring + ROWS * slot * length;
        int y = y0 - TAPS / 2 + r, exists = y >= 0 && y < height;
        int whole = r < TAPS - 1 ? -TAPS : wide;  // no window is in the ring before
        size_t from = exists ? (size_t)y * width : 0;
        for (int i = item; i < wide + TAPS - 1; i += step) {
            int x = x0 - TAPS / 2 + i;
            PUT(row_or(a + from, x, width, exists, outside), newest + i);
            PUT(row_or(b + from, x, width, exists, outside), newest + length + i);
            if (r >= TAPS - 1) down(ring, i, length, slot, weights, of_line);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = item; i < whole + TAPS - 2; i += step) step_along(ring, i, length, slot, of_line);
        barrier(CLK_LOCAL_MEM_FENCE);
        FLOAT of_row[ERRORS];
        UNROLLED
        for (int k = 0; k < ERRORS; k++) of_row[k] = 0.0f;
        for (int i = item; i < whole; i += step) {
            Moments m = along(ring, i, length, slot, weights, of_line);
            __local const float *pixel = row_before(ring, length, slot, MIDDLE) + MIDDLE + i;
            FLOAT difference = m.a - m.b, apart = difference * difference, v = m.apart / (m.variances + C2);
            FLOAT structure = not_negative(fma(apart, 1.0f - v, v));
            FLOAT edge_a = fabs(FETCH(pixel) - m.a), edge_b = fabs(FETCH(pixel + length) - m.b);
            FLOAT t = (edge_b - edge_a) / (1.0f + edge_a);
            INT counts = LANE_INDEX < (INT)(wide - i);
            structure = select((FLOAT)0.0f, structure, counts);
            FLOAT ringing = select((FLOAT)0.0f, not_negative(t), counts);
            FLOAT blur = select((FLOAT)0.0f, not_negative(-t), counts);
            of_row[0] += structure;
            of_row[1] += fourth(structure);
            of_row[2] += ringing;
            of_row[3] += fourth(ringing);
            of_row[4] += blur;
            of_row[5] += fourth(blur);
        }
        UNROLLED
        for (int k = 0; k < ERRORS; k++) accumulate(&totals[k], of_row[k]);
    }
    size_t group = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
    for (int k = 0; k < ERRORS; k++) {
        float2 total = group_total(totals[k], sums);
        if (item == 0) partial[group * ERRORS + k] = total;
    }
}
