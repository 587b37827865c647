// FLIP, the difference that people notice between two pictures shown in turn:
//   FLIP = ΔEc^(1 − ΔEf)
// P. Andersson, J. Nilsson, T. Akenine-Möller, M. Oskarsson, K. Åström, M. Fairchild, "FLIP: A Difference Evaluator for
// Alternating Images", HPG 2020, with the authors' separable filters. ΔEc is the difference of colours after the eye's
// contrast sensitivity, ΔEf that of edges and points. HDR: the largest over several exposures ("Visualizing Errors in
// Rendered High Dynamic Range Images", Eurographics 2021).
//
// All filters are linear. So instead of the two pictures this filters the reference and the difference, test less
// reference. Small errors then keep all their digits, and equal parts give exactly 0. The opponent colours are
// (Y, X − Y, Y − Z), where X, Y, Z are over those of white: YCxCz without its factors.
//
// A group computes a window of a tile of ACROSS × DOWN pixels at a time, for one exposure after the other. It takes
// LINES rows at a time into local memory, filters them along x to `scratch`, its own part of global memory, and then
// filters that along y. The file stands after lanes.cl.
//
// -D ACROSS=n -D DOWN=n    are the sides of a tile
// -D LINES=n               is the number of rows taken at a time
// -D STRIP=n               is the number of neighbours in scratch: WIDTH or ACROSS
// -D FEW=n                 is the radius of the filters of Y and X − Y
// -D MANY=n                is that of Y − Z
// -D FEATURE=n             is that of edges and points
// -D HALO=n                is the largest radius
// -D ALONE                 is for groups of a single work-item
// -D TONE_CURVE            is for HDR: light goes through the exposures and a tone curve
// -D BY_LUMINANCE          divides by a function of the luminance instead of each channel

#define TALL (DOWN + 2 * HALO)                                   // rows of a tile with its halo
#define PITCH ((ACROSS + 2 * HALO + WIDTH - 1) / WIDTH * WIDTH)  // pixels of a row in local memory
#define PLANES 7                                                 // planes that the filters along x make of a picture
#define LARGEST 0x1p60f                                          // light above is no brighter; its square is finite

#ifdef ALONE
#define SYNC(which)
#else
#define SYNC(which) barrier(which)
#endif

#if MANY <= 16
#define TAPS UNROLLED
#else
#define TAPS __attribute__((opencl_unroll_hint(1)))  // long code takes long to build
#endif

// Where the filters' weights begin: from the centre to the outermost one.
#define LUMA 0                              // contrast sensitivity of Y
#define RED_GREEN (LUMA + FEW + 1)          // of X − Y
#define BLUE_YELLOW (RED_GREEN + FEW + 1)   // of Y − Z, a sum of two Gaussians
#define BLUE_YELLOW_2 (BLUE_YELLOW + MANY + 1)
#define GAUSS (BLUE_YELLOW_2 + MANY + 1)    // of features
#define EDGE (GAUSS + FEATURE + 1)          // first derivative
#define POINT (EDGE + FEATURE + 1)          // second derivative

// -- colours ------------------------------------------------------------------------------------------------------

// X, Y, Z over those of white, of linear Rec. 709 light.
static inline void xyz_of(const FLOAT *rgb, FLOAT *xyz) {
    xyz[0] = 0.433895389f * rgb[0] + 0.376242373f * rgb[1] + 0.189862239f * rgb[2];
    xyz[1] = 0.212636822f * rgb[0] + 0.715182982f * rgb[1] + 0.072180196f * rgb[2];
    xyz[2] = 0.017752423f * rgb[0] + 0.109465629f * rgb[1] + 0.872781948f * rgb[2];
}

static inline void opponents_of(const FLOAT *rgb, FLOAT *o) {
    o[0] = 0.212636822f * rgb[0] + 0.715182982f * rgb[1] + 0.072180196f * rgb[2];
    o[1] = 0.221258567f * rgb[0] - 0.338940609f * rgb[1] + 0.117682042f * rgb[2];
    o[2] = 0.194884399f * rgb[0] + 0.605717353f * rgb[1] - 0.800601752f * rgb[2];
}

static inline void light_of_opponents(const FLOAT *o, FLOAT *rgb) {
    rgb[0] = o[0] + 3.080341988f * o[1] + 0.542943019f * o[2];
    rgb[1] = o[0] - 0.921178396f * o[1] - 0.045248412f * o[2];
    rgb[2] = o[0] + 0.052881293f * o[1] - 1.151129913f * o[2];
}

#define BRIGHT 0.008856451679f  // (6/29)³: above, CIELab's curve is a cube root
#define SLOPE 7.787037037f      // of the line below

// CIELab's curve. `change` becomes its change from t to t + change, without loss of digits where that is small.
static inline FLOAT lab_curve(FLOAT t, FLOAT *change) {
    FLOAT u = t + *change;
    INT roots_at_both = (t > BRIGHT) & (u > BRIGHT), line_at_both = (t <= BRIGHT) & (u <= BRIGHT);
    FLOAT root = power(fmax(t, BRIGHT), 0.333333333f), next = power(fmax(u, BRIGHT), 0.333333333f);
    FLOAT line = SLOPE * t + 0.137931034f, line_next = SLOPE * u + 0.137931034f;
    FLOAT f = select(line, root, t > BRIGHT);
    FLOAT mixed = select(line_next, next, u > BRIGHT) - f;
    FLOAT roots = *change / (root * root + root * next + next * next);  // a − b = (a³ − b³) / (a² + ab + b²)
    FLOAT on_line = SLOPE * *change;
    *change = select(select(mixed, roots, roots_at_both), on_line, line_at_both);
    return f;
}

// ΔEc of opponent colours and their change.
static inline FLOAT colour_error(const FLOAT *seen, const FLOAT *change) {
    FLOAT rgb[3], by[3], t[3], d[3], f[3];
    light_of_opponents(seen, rgb);
    light_of_opponents(change, by);
    UNROLLED
    for (int c = 0; c < 3; c++) {  // both are clamped to 0 … 1
        FLOAT v = fmin(fmax(rgb[c], 0.0f), 1.0f);
        by[c] = fmin(fmax(by[c] + (rgb[c] - v), -v), 1.0f - v);
        rgb[c] = v;
    }
    xyz_of(rgb, t);
    xyz_of(by, d);
    UNROLLED
    for (int c = 0; c < 3; c++) f[c] = lab_curve(t[c], &d[c]);
    FLOAT lightness = 116.0f * f[1] - 16.0f, d_lightness = 116.0f * d[1];
    // The Hunt effect multiplies a and b by L/100. The change of a product L·a is (L + ΔL)·Δa + ΔL·a.
    FLOAT after = 0.01f * (lightness + d_lightness), d_hunt = 0.01f * d_lightness;
    FLOAT d_a = 500.0f * (after * (d[0] - d[1]) + d_hunt * (f[0] - f[1]));
    FLOAT d_b = 200.0f * (after * (d[1] - d[2]) + d_hunt * (f[1] - f[2]));
    FLOAT distance = power(fabs(d_lightness) + sqrt(d_a * d_a + d_b * d_b), 0.7f);  // HyAB
    // 41.276098 is the distance of green and blue. Its first 40 % become 0 … 0.95.
    const float most = 41.27609841f, knee = 0.4f * 41.27609841f;
    FLOAT high = 0.95f + (distance - knee) * (0.05f / (most - knee));
    return select(high, distance * (0.95f / knee), distance < knee);
}

// The change of a vector's magnitude when (x, y) becomes (x + dx, y + dy): that of its square over the magnitudes' sum.
static inline FLOAT change_of_magnitude(FLOAT x, FLOAT y, FLOAT dx, FLOAT dy) {
    FLOAT nx = x + dx, ny = y + dy;
    FLOAT sum = sqrt(x * x + y * y) + sqrt(nx * nx + ny * ny);
    FLOAT change = fabs(dx * (x + nx) + dy * (y + ny));
    return select((FLOAT)0.0f, change / sum, sum > 0.0f);
}

// -- pixels -------------------------------------------------------------------------------------------------------

// WIDTH pixels of a row from column x on; beyond its ends the outermost ones are repeated.
static inline FLOAT pixels_at(__global const float *row, int x, int width) {
#if WIDTH == 1
    return row[clamp(x, 0, width - 1)];
#else
    if (x >= 0 && x + WIDTH <= width) return vload8(0, row + x);
    float s[WIDTH];
    for (int k = 0; k < WIDTH; k++) s[k] = row[clamp(x + k, 0, width - 1)];
    return vload8(0, s);
#endif
}

// Light as it is shown, in 0 … 1; NaN becomes 0. A tone curve is (k0 x² + k1 x + k2) / (k3 x² + k4 x + k5).
static inline void shown(FLOAT *rgb, float exposure, float8 k) {
#ifdef TONE_CURVE
    UNROLLED
    for (int c = 0; c < 3; c++) rgb[c] = fmin(fmax(rgb[c] * exposure, 0.0f), LARGEST);
#ifdef BY_LUMINANCE
    FLOAT luminance = 0.2126f * rgb[0] + 0.7152f * rgb[1] + 0.0722f * rgb[2];
#endif
    UNROLLED
    for (int c = 0; c < 3; c++) {
        FLOAT x = rgb[c];
#ifdef BY_LUMINANCE
        FLOAT y = luminance;
#else
        FLOAT y = x;
#endif
        rgb[c] = ((k.s0 * x + k.s1) * x + k.s2) / ((k.s3 * y + k.s4) * y + k.s5);
    }
#endif
    UNROLLED
    for (int c = 0; c < 3; c++) rgb[c] = fmin(fmax(rgb[c], 0.0f), 1.0f);
}

// Says where a value of one picture is NaN or infinite and the other's is not the same.
static inline INT beyond_compare(__global const float *a, __global const float *b, size_t at, ulong plane, int count) {
    INT bad = 0;
    UNROLLED
    for (int c = 0; c < 3; c++) {
        FLOAT p = load(a + c * plane + at, count), q = load(b + c * plane + at, count);
        INT infinite = ((AS_INT(p) & 0x7f800000) == 0x7f800000) | ((AS_INT(q) & 0x7f800000) == 0x7f800000);
        bad |= infinite & (p != q) & ((p == p) | (q == q));
    }
    return bad;
}

// -- filters ------------------------------------------------------------------------------------------------------

#if WIDTH == 1
#define NEAR(p) (*(p))
#define PUT(v, p) (*(p) = (v))
#else
#define NEAR(p) vload8(0, p)
#define PUT(v, p) vstore8(v, 0, p)
#endif

// Σ w[|k|] v[k] for k = −n … n; the values are `step` floats apart. These are macros because v points to local memory
// along x and to global memory along y.
#define SYMMETRIC(sum, v, step, w, n)                                                             \
    FLOAT sum = (w)[0] * NEAR(v);                                                                 \
    TAPS                                                                                          \
    for (int k = 1; k <= (n); k++) sum += (w)[k] * (NEAR((v) + k * (step)) + NEAR((v) - k * (step)));

// First and second derivatives of a Gaussian. As sums of differences they are exactly 0 on constants.
#define DERIVATIVES(first, second, v, step, w1, w2, n)                                            \
    FLOAT first = 0.0f, second = 0.0f;                                                            \
    {                                                                                             \
        FLOAT centre = NEAR(v);                                                                   \
        TAPS                                                                                      \
        for (int k = 1; k <= (n); k++) {                                                          \
            FLOAT after = NEAR((v) + k * (step)), before = NEAR((v) - k * (step));                \
            first += (w1)[k] * (after - before);                                                  \
            second += (w2)[k] * ((after - centre) + (before - centre));                           \
        }                                                                                         \
    }

// Filters WIDTH pixels of one picture along x. `in` points at their opponent colours, `plane` floats apart; `out` takes
// PLANES values, STRIP floats apart.
static inline void along_x(__local const float *in, int plane, __constant const float *w, __global float *out) {
    SYMMETRIC(luma, in, 1, w + LUMA, FEW)
    PUT(luma, out);
    SYMMETRIC(red_green, in + plane, 1, w + RED_GREEN, FEW)
    PUT(red_green, out + STRIP);
    SYMMETRIC(blue_yellow, in + 2 * plane, 1, w + BLUE_YELLOW, MANY)
    PUT(blue_yellow, out + 2 * STRIP);
    SYMMETRIC(blue_yellow_2, in + 2 * plane, 1, w + BLUE_YELLOW_2, MANY)
    PUT(blue_yellow_2, out + 3 * STRIP);
    DERIVATIVES(edge, point, in, 1, w + EDGE, w + POINT, FEATURE)
    PUT(edge, out + 4 * STRIP);
    PUT(point, out + 5 * STRIP);
    SYMMETRIC(gauss, in, 1, w + GAUSS, FEATURE)
    PUT(gauss, out + 6 * STRIP);
}

// Filters them along y: opponent colours, and the edge and the point filters' results along x and y.
static inline void along_y(__global const float *in, __constant const float *w, FLOAT *colour, FLOAT *feature) {
    const int row = 2 * PLANES * STRIP;
    SYMMETRIC(luma, in, row, w + LUMA, FEW)
    SYMMETRIC(red_green, in + STRIP, row, w + RED_GREEN, FEW)
    SYMMETRIC(blue_yellow, in + 2 * STRIP, row, w + BLUE_YELLOW, MANY)
    SYMMETRIC(blue_yellow_2, in + 3 * STRIP, row, w + BLUE_YELLOW_2, MANY)
    SYMMETRIC(edge_x, in + 4 * STRIP, row, w + GAUSS, FEATURE)
    SYMMETRIC(point_x, in + 5 * STRIP, row, w + GAUSS, FEATURE)
    DERIVATIVES(edge_y, point_y, in + 6 * STRIP, row, w + EDGE, w + POINT, FEATURE)
    colour[0] = luma, colour[1] = red_green, colour[2] = blue_yellow + blue_yellow_2;
    feature[0] = edge_x, feature[1] = edge_y, feature[2] = point_x, feature[3] = point_y;
}

// -- tiles --------------------------------------------------------------------------------------------------------

// Takes a window of `vectors` × `down` times WIDTH pixels with its halo, as shown at one exposure, and filters it
// along x.
static inline void window_along_x(__global const float *a, __global const float *b, ulong plane, int width, int height,
                                  int x0, int y0, int vectors, int down, float exposure, float8 tone,
                                  __constant const float *weights, __global float *scratch, __local float *lines) {
    int item = get_local_id(0), items = get_local_size(0), wide = vectors + (2 * HALO + WIDTH - 1) / WIDTH;
    for (int first = 0; first < down + 2 * HALO; first += LINES) {
        int rows = min(LINES, down + 2 * HALO - first);
        for (int i = item; i < rows * wide; i += items) {
            int line = i / wide, x = i % wide * WIDTH;
            size_t row = (size_t)clamp(y0 - HALO + first + line, 0, height - 1) * width;
            FLOAT p[3], q[3], o[3];
            UNROLLED
            for (int c = 0; c < 3; c++) {
                p[c] = pixels_at(a + c * plane + row, x0 - HALO + x, width);
                q[c] = pixels_at(b + c * plane + row, x0 - HALO + x, width);
            }
            shown(p, exposure, tone);
            shown(q, exposure, tone);
            UNROLLED
            for (int c = 0; c < 3; c++) q[c] -= p[c];
            __local float *to = lines + line * 6 * PITCH + x;
            opponents_of(p, o);
            for (int c = 0; c < 3; c++) PUT(o[c], to + c * PITCH);
            opponents_of(q, o);
            for (int c = 0; c < 3; c++) PUT(o[c], to + (3 + c) * PITCH);
        }
        SYNC(CLK_LOCAL_MEM_FENCE);
        for (int i = item; i < rows * vectors; i += items) {
            int line = i / vectors, x = i % vectors * WIDTH;
            __local const float *from = lines + line * 6 * PITCH + HALO + x;
            __global float *to = scratch + (x / STRIP * TALL + first + line) * 2 * PLANES * STRIP + x % STRIP;
            along_x(from, PITCH, weights, to);
            along_x(from + 3 * PITCH, PITCH, weights, to + PLANES * STRIP);
        }
        SYNC(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}

// FLIP of WIDTH pixels, whose values filtered along x are at `in`.
static inline FLOAT error_at(__global const float *in, __constant const float *weights) {
    FLOAT seen[3], change[3], feature[4], d[4];
    along_y(in, weights, seen, feature);
    along_y(in + PLANES * STRIP, weights, change, d);
    FLOAT edges = change_of_magnitude(feature[0], feature[1], d[0], d[1]);
    FLOAT points = change_of_magnitude(feature[2], feature[3], d[2], d[3]);
    FLOAT features = fmin(sqrt(fmax(edges, points) * 0.70710678f), 1.0f);
    FLOAT colours = colour_error(seen, change);
    FLOAT error = EXP2((1.0f - features) * LOG2(colours));
    return select(error, (FLOAT)0.0f, colours == 0.0f);
}

// Of equal errors the one nearest to the first pixel counts.
static inline void take_larger(__local float *most, __local int *place, float error, int where) {
    if (error < *most || (error == *most && where > *place)) return;
    *most = error;
    *place = where;
}

// Folds the group's sums and largest errors into those of item 0. Called by the whole group, of a power of two in size.
static inline void fold(__local float *sums, __local float *most, __local int *places) {
#ifndef ALONE
    int item = get_local_id(0);
    for (int half_ = get_local_size(0) / 2; half_ > 0; half_ /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_) {
            int other = item + half_;
            sums[item] += sums[other];
            take_larger(&most[item], &places[item], most[other], places[other]);
        }
    }
#endif
}

// Computes the windows list[first] … of count[0], `rounds` windows a group, for `exposures` exposures, the first of which
// has the number `number`; from the second launch on the map has the largest errors so far. Where values cannot be
// compared, the error is NaN. Other pixels of the maps stay as they are; other tiles' records are 0 already.
// records[tile] takes the sum of its errors, the largest, and its place as an int's bits; NaN counts as infinite.
// best takes the number of the exposure of the largest error over the number of the last one (only with TONE_CURVE).
// Local: any power of two, or 1 with ALONE. Global: any number of groups. `plane` is the distance of planes.
__kernel void flip_error(__global const float *a, __global const float *b, __global const int4 *list,
                         __global const uint *count, __global float *map, __global float *best,
                         __global float4 *records, __global float *scratch, __constant const float *weights,
                         __constant const float *factors, int width, int height, ulong plane, int first, int rounds,
                         int number, int exposures, float last, float8 tone, __local float *sums, __local float *most,
                         __local int *places) {
    __local float lines[LINES * 6 * PITCH];
    int item = get_local_id(0), items = get_local_size(0), tiles = (width + ACROSS - 1) / ACROSS;
    int slot = first + get_group_id(0), end = min(slot + rounds * (int)get_num_groups(0), (int)count[0]);
    scratch += (size_t)get_group_id(0) * ACROSS * TALL * 2 * PLANES;
    for (; slot < end; slot += get_num_groups(0)) {
        int4 window = list[slot];
        int x0 = window.x, y0 = window.y, tile = y0 / DOWN * tiles + x0 / ACROSS;
        int vectors = (window.z - x0 + WIDTH - 1) / WIDTH, in_strip = min(vectors, STRIP / WIDTH);
        int down = window.w - y0;
        FLOAT sum = 0.0f, lost = 0.0f, largest = -1.0f;
        INT place = 0;
        for (int e = 0; e < exposures; e++) {
            window_along_x(a, b, plane, width, height, x0, y0, vectors, down, factors[number + e], tone, weights,
                           scratch, lines);
            for (int i = item; i < down * vectors; i += items) {
                int x = i % in_strip * WIDTH, y = i / in_strip % down, strip = i / in_strip / down;
                int column = x0 + strip * STRIP + x, left = width - column;
                size_t at = (size_t)(y0 + y) * width + column;
                __global const float *in = scratch + (strip * TALL + HALO + y) * 2 * PLANES * STRIP + x;
                FLOAT error = error_at(in, weights);
#ifdef TONE_CURVE
                if (number + e > 0) {
                    FLOAT before = load(map + at, left), which = load(best + at, left);
                    store(select(which, (FLOAT)((float)(number + e) / last), error > before), best + at, left);
                    error = fmax(error, before);
                } else {
                    store((FLOAT)0.0f, best + at, left);
                }
#endif
                if (e == exposures - 1) {
                    INT bad = beyond_compare(a, b, at, plane, left);
                    error = select(error, (FLOAT)NAN, bad);
                    FLOAT key = select(error, (FLOAT)INFINITY, isnan(error));
                    INT here = LANE_INDEX + (int)at, inside = (INT)LANE_INDEX < (INT)left;
                    INT better = inside & ((key > largest) | ((key == largest) & (here < place)));
                    FLOAT term = select((FLOAT)0.0f, error, inside) - lost, next = sum + term;  // Kahan's summation
                    lost = (next - sum) - term;
                    sum = next;
                    largest = select(largest, key, better);
                    place = select(place, here, better);
                }
                store(error, map + at, left);
            }
            SYNC(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        }
        sums[item] = 0.0f;
        most[item] = -1.0f;
        places[item] = INT_MAX;
        for (int k = 0; k < WIDTH; k++) {
            sums[item] += lane(sum, k);
            take_larger(&most[item], &places[item], lane(largest, k), int_lane(place, k));
        }
        fold(sums, most, places);
        if (item == 0) records[tile] = (float4)(sums[0], most[0], as_float(places[0]), 0.0f);
        SYNC(CLK_LOCAL_MEM_FENCE);
    }
}
