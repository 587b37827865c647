// A tone mapping operator that is a table of colours (gpuops/tone/lut.py). The file stands after colour.cl and
// tonemap_operators.cl.
//
// A colour, in the encoding that the table wants, lies in a cube between eight entries. The cube's diagonal from black
// to white cuts it into six tetrahedra. Inside the colour's own, with its fractions a ≥ b ≥ c of the way along the
// three axes,
//     (1 − a) T₀ + (a − b) T₁ + (b − c) T₂ + c T₃
// is the result. T₀ is the entry next to black; T₁, T₂ and T₃ are one step farther each, along a's axis, b's and c's.
// So grays come from the diagonal's entries alone, a table's entries come back as they are, and affine tables are
// exact. Source: Kasson, Nin, Plouffe, Hafner, "Performing color space conversions with three-dimensional linear
// interpolation", Journal of Electronic Imaging 4 (3), 1995.
//
// A table in memory is: the scale of red, green and blue and its size n, their offset, then its entries (red, green,
// blue, 0). An index is value · scale + offset, clamped to 0 … n − 1; red's index runs fastest.
//
// -D LUT_CURVES     has n entries, a curve for each channel
// -D LUT_CUBE       has n³ entries; with LUT_CURVES too, the curves' table comes first
// -D LUT_SRGB | LUT_REINHARD | LUT_LOG2   looks up the sRGB signal, c/(1 + c) or log2 c rather than light
// -D LUT_DECODE     says that entries are the sRGB signal rather than light

static inline FLOAT looked_up(FLOAT v) {
#if defined(LUT_SRGB)
    return linear_to_srgb(v);
#elif defined(LUT_REINHARD)
    return v * RECIP(1.0f + v);
#elif defined(LUT_LOG2)
    return LOG2(v);  // −∞ for 0
#else
    return v;
#endif
}

typedef struct {
    INT before;      // the index of the entry at or below the value
    FLOAT fraction;  // how far the value lies on the way to the next entry
} Place;

static inline Place place_of(FLOAT v, float scale, float offset, float size) {
    Place at;
    at.before = TO_INT(clamp(fma(v, (FLOAT)scale, (FLOAT)offset), 0.0f, size - 2.0f));
    // The whole part is subtracted within the fma: the rounded index of a table of 256 entries has lost 8 bits.
    at.fraction = clamp(fma(v, (FLOAT)scale, offset - TO_FLOAT(at.before)), 0.0f, 1.0f);
    return at;
}

typedef union {
    FLOAT all;
    float lanes[WIDTH];
} Lanes;

#ifdef LUT_CURVES
static inline Colour along_curves(Colour c, __global const float4 *table) {
    float4 scale = table[0], offset = table[1];
    Place red = place_of(c.r, scale.x, offset.x, scale.w), green = place_of(c.g, scale.y, offset.y, scale.w);
    Place blue = place_of(c.b, scale.z, offset.z, scale.w);
    Lanes r, g, b;
    UNROLLED
    for (int k = 0; k < WIDTH; k++) {
        __global const float4 *of_red = table + 2 + int_lane(red.before, k);
        __global const float4 *of_green = table + 2 + int_lane(green.before, k);
        __global const float4 *of_blue = table + 2 + int_lane(blue.before, k);
        float4 before = (float4)(of_red[0].x, of_green[0].y, of_blue[0].z, 0.0f);
        float4 after = (float4)(of_red[1].x, of_green[1].y, of_blue[1].z, 0.0f);
        float4 f = (float4)(lane(red.fraction, k), lane(green.fraction, k), lane(blue.fraction, k), 0.0f);
        float4 v = (1.0f - f) * before + f * after;
        r.lanes[k] = v.x, g.lanes[k] = v.y, b.lanes[k] = v.z;
    }
    return colour(r.all, g.all, b.all);
}
#endif

#ifdef LUT_CUBE
static inline Colour in_tetrahedra(Colour c, __global const float4 *table) {
    float4 scale = table[0], offset = table[1];
    Place red = place_of(c.r, scale.x, offset.x, scale.w), green = place_of(c.g, scale.y, offset.y, scale.w);
    Place blue = place_of(c.b, scale.z, offset.z, scale.w);
    FLOAT x = red.fraction, y = green.fraction, z = blue.fraction;
    FLOAT most = fmax(x, fmax(y, z)), least = fmin(x, fmin(y, z));
    FLOAT middle = fmax(fmin(x, y), fmin(fmax(x, y), z));
    // The steps along the axes of the largest and of the smallest fraction are never along one axis, even if all are
    // equal.
    int size = (int)scale.w;
    const INT to_red = 1, to_green = size, to_blue = size * size;
    INT first = select(select(to_blue, to_green, y >= z), select(to_blue, to_red, x >= z), x >= y);
    INT last = select(select(to_blue, to_green, y < z), select(to_blue, to_red, x < z), x < y);
    const int all = 1 + size + size * size;
    INT from = blue.before * to_blue + green.before * to_green + red.before, two = all - last;
    FLOAT w0 = 1.0f - most, w1 = most - middle, w2 = middle - least;
    Lanes r, g, b;
    UNROLLED
    for (int k = 0; k < WIDTH; k++) {
        __global const float4 *t = table + 2 + int_lane(from, k);
        float4 v = lane(w0, k) * t[0] + lane(w1, k) * t[int_lane(first, k)] + lane(w2, k) * t[int_lane(two, k)] +
                   lane(least, k) * t[all];
        r.lanes[k] = v.x, g.lanes[k] = v.y, b.lanes[k] = v.z;
    }
    return colour(r.all, g.all, b.all);
}
#endif

static inline Colour op_lut(Colour c, __global const float4 *table) {
    c = colour(looked_up(c.r), looked_up(c.g), looked_up(c.b));
#ifdef LUT_CURVES
    c = along_curves(c, table);
    table += 2 + (int)table[0].w;
#endif
#ifdef LUT_CUBE
    c = in_tetrahedra(c, table);
#endif
    c = clamped(c, 0x1p50f);  // light is not negative, and stays finite when it is decoded
#ifdef LUT_DECODE
    c = colour(srgb_to_linear(c.r), srgb_to_linear(c.g), srgb_to_linear(c.b));
#endif
    return c;
}
