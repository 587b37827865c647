// Colour differences of two pictures, pixel by pixel, and in the same reading their sum, the largest and its place, and
// the number above a threshold. After lanes.cl, sums.cl and worst.cl, which says that products are not fused.
//
//   CIE 76    Euclid's distance in CIE L*a*b* (CIE 15:2004, 8.2.1).
//   CIEDE2000 G. Sharma, W. Wu, E. Dalal, "The CIEDE2000 color-difference formula: implementation notes, supplementary
//             test data, and mathematical observations", Color Res. Appl. 30, 2005.
//   ΔE ITP    720 √(ΔI² + ΔT² + ΔP²) with T = Ct/2 and P = Cp (ITU-R BT.2124; ICtCp with PQ as in BT.2100, table 6).
//
// Planes hold linear RGB light, or with -D COORDINATES already L, a, b or I, Ct, Cp. `numbers` has the matrix, row by
// row, from RGB to XYZ over the white's XYZ; for ITP to linear Rec. 2020 in units of 10,000 cd/m². ITP is of light as a display
// shows it: negative values of that count as 0.
//
// Pixels that are equal differ by 0, whatever they hold: NaN equals NaN, and an infinity itself. A value that is not
// finite is an infinite difference from any other, and so is what overflows.
//
// -D CHANNELS=1|3       gray stands for R = G = B
// -D METHOD=76|2000|1   1 is ITP
// -D COORDINATES, MAP   MAP: differences are also stored, in `map`

typedef struct {
    FLOAT x, y, z;
} Colour;

static inline FLOAT square(FLOAT v) { return v * v; }

static inline FLOAT length_of(FLOAT x, FLOAT y) { return sqrt(x * x + y * y); }

// The cube root for x > 0, within 2 ulp: two of Halley's steps from a guess by the exponent, which is within 6 %.
static inline FLOAT cube_root(FLOAT x) {
    FLOAT y = AS_FLOAT(TO_INT(TO_FLOAT(AS_INT(x)) * (1.0f / 3.0f)) + 709958130);
    for (int k = 0; k < 2; k++) {
        FLOAT cube = y * y * y;
        y -= y * (cube - x) / (2.0f * cube + x);
    }
    return y;
}

static inline Colour product(__constant const float *m, Colour v) {
    Colour p = {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                m[6] * v.x + m[7] * v.y + m[8] * v.z};
    return p;
}

#if METHOD == 1
// PQ of light y in units of 10,000 cd/m² (SMPTE ST 2084): ((c1 + c2 z) / (1 + c3 z))^m2 with z = y^m1. As c1 + c2 is
// 1 + c3, the fraction is 1 − u with u = (1 − c1)(1 − z) / (1 + c3 z), and its logarithm −2 artanh(u / (2 − u)). So no
// digits are lost; the power m2 would multiply their loss by 79.
static inline FLOAT pq(FLOAT y) {
    FLOAT z = power(fmin(y, FLT_MAX), 0.1593017578125f);
    FLOAT u = 0.1640625f * (1.0f - z) / (1.0f + 18.6875f * z);
    FLOAT s = u / (2.0f - u), ss = s * s;
    FLOAT artanh = s * (1.0f + ss * (1.0f / 3.0f + ss * (0.2f + ss * (1.0f / 7.0f))));
    return EXP2(artanh * (-2.0f * M_LOG2E_F * 78.84375f));
}
#endif

// clipped: how many of the CHANNELS values were negative is added to it.
static inline Colour coordinates(Colour v, __constant const float *numbers, INT *clipped) {
#ifdef COORDINATES
    return v;
#elif METHOD == 1
    v = product(numbers, v);
    FLOAT f[3] = {v.x, v.y, v.z};
    for (int k = 0; k < 3; k++) {
        INT negative = f[k] < 0.0f;
        if (k < CHANNELS) *clipped += one_if(negative);
        f[k] = select(f[k], (FLOAT)0.0f, negative) * (1.0f / 4096.0f);
    }
    Colour signal = {pq(1688.0f * f[0] + 2146.0f * f[1] + 262.0f * f[2]),
                     pq(683.0f * f[0] + 2951.0f * f[1] + 462.0f * f[2]),
                     pq(99.0f * f[0] + 309.0f * f[1] + 3688.0f * f[2])};
    return signal;
#else
    v = product(numbers, v);
    FLOAT f[3] = {v.x, v.y, v.z};
    for (int k = 0; k < 3; k++) {
        FLOAT root = cube_root(fmax(f[k], 0.008f));  // below (6/29)³ = 0.00886 the curve is a line
        f[k] = select(f[k] * (841.0f / 108.0f) + 4.0f / 29.0f, root, f[k] > 216.0f / 24389.0f);
    }
    Colour lab = {116.0f * f[1] - 16.0f, 500.0f * (f[0] - f[1]), 200.0f * (f[1] - f[2])};
    return lab;
#endif
}

#if METHOD == 2000
// sin(60° x) for x in 0 … 1: Taylor's polynomial, within 4e-8.
static inline FLOAT sine_of_60_degrees(FLOAT x) {
    FLOAT t = x * 1.0471976f, tt = t * t;
    return t * (1.0f + tt * (-1.0f / 6.0f + tt * (1.0f / 120.0f + tt * (-1.0f / 5040.0f + tt * (1.0f / 362880.0f)))));
}

// θ² of cos θ, within 6e-6 up to 101°; larger angles count as 101°. This polynomial in 1 − cos θ was fitted at
// Chebyshev's nodes.
static inline FLOAT squared_angle(FLOAT cosine) {
    FLOAT c = fmin(1.0f - cosine, 1.2f);
    FLOAT p = fma(c, (FLOAT)0.0151238022f, (FLOAT)-0.0286434517f);
    p = fma(p, c, (FLOAT)0.0422722772f);
    p = fma(p, c, (FLOAT)0.0133806178f);
    p = fma(p, c, (FLOAT)0.0921901166f);
    p = fma(p, c, (FLOAT)0.3330699503f);
    return c * fma(p, c, (FLOAT)2.0000033379f);
}

// √(C⁷ / (C⁷ + 25⁷)).
static inline FLOAT chroma_term(FLOAT c) {
    FLOAT r = c * 0.04f, r7 = r * r * r * (r * r * r) * r;
    return sqrt(1.0f / (1.0f + 1.0f / r7));
}

// The hues are directions: (a1, b1) and (a2, b2), whose angle is −180° … 180°. Its sine and cosine, times both chromas,
// are the cross product q and the dot product p. The mean hue is the direction in the middle of the smaller angle.
// Where the two directions are opposite, hues rise from the one in 0° … 180° to the other.
static inline FLOAT difference(Colour v, Colour w) {
    FLOAT g = 1.5f - 0.5f * chroma_term(0.5f * (length_of(v.y, v.z) + length_of(w.y, w.z)));
    FLOAT a1 = g * v.y, b1 = v.z, a2 = g * w.y, b2 = w.z;
    FLOAT c1 = length_of(a1, b1), c2 = length_of(a2, b2), chroma = 0.5f * (c1 + c2), c12 = c1 * c2;
    FLOAT p = a1 * a2 + b1 * b2, q = a1 * b2 - a2 * b1;
    INT near = p >= 0.0f, first_low = (b1 > 0.0f) | ((b1 == 0.0f) & (a1 > 0.0f));
    FLOAT sense = select(copysign((FLOAT)1.0f, q), select((FLOAT)-1.0f, (FLOAT)1.0f, first_low), q == 0.0f);
    // ΔH' = 2 √(C1' C2') sin(Δh/2), from the half-angle formula that loses no digits.
    FLOAT dh = select(sense * sqrt(2.0f * fmax(c12 - p, 0.0f)), q / sqrt(0.5f * (c12 + p)), near);
    dh = select(dh, (FLOAT)0.0f, c12 == 0.0f);
    // The mean hue's direction: the sum of the two, or their difference turned by a right angle.
    FLOAT x = select(sense * (c1 * b2 - c2 * b1), c2 * a1 + c1 * a2, near);
    FLOAT y = select(sense * (c2 * a1 - c1 * a2), c2 * b1 + c1 * b2, near);
    FLOAT length = length_of(x, y);
    INT hue = length > 0.0f;
    x = select((FLOAT)1.0f, x / length, hue);
    y = select((FLOAT)0.0f, y / length, hue);
    // Cosines and sines of two, three and four times the mean hue.
    FLOAT x2 = x * x - y * y, y2 = 2.0f * x * y, x3 = x * x2 - y * y2, y3 = x * y2 + y * x2;
    FLOAT x4 = x2 * x2 - y2 * y2, y4 = 2.0f * x2 * y2;
    FLOAT t = 1.0f - 0.17f * (0.8660254f * x + 0.5f * y) + 0.24f * x2 + 0.32f * (0.99452190f * x3 - 0.10452846f * y3) -
              0.20f * (0.45399050f * x4 + 0.89100652f * y4);
    // The bell exp(−(θ / 25°)²) of the angle θ from 275°, by cos θ and a sine. Hues of 0° … 95° are more than 180° from
    // it, and have no rotation.
    FLOAT cosine = 0.08715574f * x - 0.99619470f * y, sine = 0.99619470f * x + 0.08715574f * y;
    FLOAT bell = EXP2(-7.5777415f * squared_angle(cosine));  // (180 / 25π)² / ln 2
    bell = select(bell, (FLOAT)0.0f, (y >= 0.0f) & (sine > 0.0f));
    FLOAT rotation = -2.0f * chroma_term(chroma) * sine_of_60_degrees(bell);
    FLOAT middle = square(0.5f * (v.x + w.x) - 50.0f);
    FLOAT dl = (w.x - v.x) / (1.0f + 0.015f * middle / sqrt(20.0f + middle));
    FLOAT dc = (c2 - c1) / (1.0f + 0.045f * chroma);
    dh /= 1.0f + 0.015f * chroma * t;
    FLOAT sum = dl * dl + dc * dc + dh * dh + rotation * dc * dh;
    return sqrt(select(sum, (FLOAT)0.0f, sum < 0.0f));
}
#elif METHOD == 1
static inline FLOAT difference(Colour v, Colour w) {
    Colour d = {v.x - w.x, v.y - w.y, v.z - w.z};
#ifdef COORDINATES
    Colour itp = d;
#else
    Colour itp = {0.5f * (d.x + d.y), (6610.0f * d.x - 13613.0f * d.y + 7003.0f * d.z) / 4096.0f,
                  (17933.0f * d.x - 17390.0f * d.y - 543.0f * d.z) / 4096.0f};
#endif
    return 720.0f * sqrt(itp.x * itp.x + 0.25f * itp.y * itp.y + itp.z * itp.z);
}
#else
static inline FLOAT difference(Colour v, Colour w) {
    return sqrt(square(v.x - w.x) + square(v.y - w.y) + square(v.z - w.z));
}
#endif

// Local: a power of two. A group takes `span` neighbouring pixels. partial: for each group the sum as two floats, the
// largest difference, its place, the number above the threshold and how many values were clipped, in six of eight numbers.
__kernel void delta_e(__global const float *a, __global const float *b, __global uint *partial, __global float *map,
                      uint size, uint span, float threshold, __constant const float *numbers, __local float2 *sums,
                      __local float *most, __local uint *places, __local uint *counts) {
    int item = get_local_id(0), items = get_local_size(0);
    uint first = get_group_id(0) * span, end = first + min(span, size - first);
    FLOAT sum = 0.0f, lost = 0.0f, worst = -1.0f;
    INT above = 0, clipped = 0;
    UINT place = 0;
    for (uint i = first + item * WIDTH; i < end; i += items * WIDTH) {
        int count = (int)min(end - i, (uint)WIDTH);
        FLOAT v[CHANNELS], w[CHANNELS];
        INT bad = 0, other = 0;
        for (int c = 0; c < CHANNELS; c++) {
            v[c] = load(a + (size_t)c * size + i, count);
            w[c] = load(b + (size_t)c * size + i, count);
            INT unlike = (v[c] != w[c]) & ((isnan(v[c]) & isnan(w[c])) == 0);
            INT infinite = isnan(v[c]) | isnan(w[c]) | isinf(v[c]) | isinf(w[c]);
            other |= unlike;
            bad |= infinite & unlike;
            v[c] = select(v[c], (FLOAT)0.0f, infinite);
            w[c] = select(w[c], (FLOAT)0.0f, infinite);
        }
        FLOAT d = 0.0f;
        INT there = LANE_INDEX < (INT)count;
        if (any_lane(other)) {
            Colour p = {v[0], v[CHANNELS / 2], v[CHANNELS - 1]}, q = {w[0], w[CHANNELS / 2], w[CHANNELS - 1]};
            INT negative = 0;
            d = difference(coordinates(p, numbers, &negative), coordinates(q, numbers, &negative));
            clipped += select((INT)0, negative, other & there);
            d = select(d, (FLOAT)INFINITY, isnan(d) | bad);
            d = select((FLOAT)0.0f, d, other);
        }
#ifdef MAP
        store(d, map + i, count);
#endif
        FLOAT x = select((FLOAT)0.0f, d, there), s = sum + x, t = s - sum;  // `add` of sums.cl, in each lane
        lost += (sum - (s - t)) + (x - t);
        sum = s;
        above += one_if(x > threshold);
        INT worse = x > worst;
        worst = select(worst, x, worse);
        place = select(place, (UINT)i, worse);
    }
    float2 total = 0.0f;
    float largest = -1.0f;
    uint where = 0;
    for (int k = 0; k < WIDTH; k++) {
        total = add(total, (float2)(lane(sum, k), lane(lost, k)));
        uint at = (uint)int_lane(AS_INT(place), k) + k;
        if (goes_before(lane(worst, k), at, largest, where)) {
            largest = lane(worst, k);
            where = at;
        }
    }
    sums[item] = total;
    most[item] = largest;
    places[item] = where;
    counts[item] = lanes_sum(above);
    fold_sums(sums);
    fold_worst(most, places);
    fold_counts(counts);
    uint are_above = item == 0 ? counts[0] : 0;  // the others would read it while item 0 writes
    barrier(CLK_LOCAL_MEM_FENCE);
    counts[item] = lanes_sum(clipped);
    fold_counts(counts);
    if (item == 0) {
        vstore4((uint4)(as_uint(sums[0].x), as_uint(sums[0].y), as_uint(most[0]), places[0]), 0,
                partial + 8 * get_group_id(0));
        partial[8 * get_group_id(0) + 4] = are_above;
        partial[8 * get_group_id(0) + 5] = counts[0];
    }
}
