// Colour correction of one pixel, in linear light and with straight colours. After lanes.cl.
//
//   1. Exposure and ASC CDL, v = (slope · v + offset)^power, whose slope has the exposure's factor in it. Nothing is
//      clamped: light goes beyond 1, and the power leaves negative light as it is (OpenColorIO's CDLTransform,
//      CDL_NO_CLAMP). Then CDL's own saturation. Source: ASC Color Decision List, version 1.2.
//   2. Contrast, v = pivot · (v / pivot)^contrast, of negative light −pivot · (−v / pivot)^contrast (OpenColorIO's
//      GradingPrimaryTransform of style GRADING_LIN).
//   3. Saturation, v = y + saturation · (v − y), where y is the luminance, by the weights of the primaries.
//   4. A curve: v = base + Σ cubic(t), t = v − start cut to low … high. Each cubic is 0 at 0, so it adds what the curve
//      rises by on its part of the axis.
//
// Gray is R = G = B, and becomes the luminance of the result. A NaN or an infinity stays what it is, and a pixel that
// has one keeps its saturation. Channels from COLOURS on are alpha, and stay.
//
// -D CHANNELS=n -D COLOURS=1|3

enum { POWER = 1, CDL_SATURATION = 2, CONTRAST = 4, SATURATION = 8, CUBICS = 16 };  // parts that change something
enum { NO_SLOPE = 32 };                                                                // a slope is 0

// The parts that would change what is not finite. Of the others slopes and powers of infinities are infinities.
#ifdef FINITE
#define ONLY_FINITE (CUBICS | NO_SLOPE | POWER | CONTRAST)
#else
#define ONLY_FINITE (CUBICS | NO_SLOPE)
#endif

typedef struct {
    float slope[3], offset[3], power[3], cdl_saturation;
    float contrast, pivot, saturation, luminance[3];
    float base, cubics;  // so many follow
} Grade;

// t · (b + t · (c + t · d))
typedef struct {
    float start, low, high, b, c, d;
} Cubic;

static inline INT finite_light(FLOAT v) { return fabs(v) <= FLT_MAX; }

static inline FLOAT luminance_by(NUMBERS const float *w, const FLOAT v[3]) {
    return fma(v[0], (FLOAT)w[0], fma(v[1], (FLOAT)w[1], v[2] * w[2]));
}

static inline void saturate_by(FLOAT v[3], float saturation, NUMBERS const float *w) {
    FLOAT y = luminance_by(w, v);
    for (int c = 0; c < 3; c++) v[c] = select(v[c], fma(v[c] - y, (FLOAT)saturation, y), finite_light(y));
}

static inline FLOAT by_cubics(FLOAT v, float base, NUMBERS const Cubic *cubics, int count) {
    FLOAT sum = base;
    for (int k = 0; k < count; k++) {
        NUMBERS const Cubic *p = cubics + k;
        FLOAT t = clamp(v - p->start, (FLOAT)p->low, (FLOAT)p->high);
        sum = fma(t, fma(t, fma(t, (FLOAT)p->d, (FLOAT)p->c), (FLOAT)p->b), sum);
    }
    return sum;
}

static inline void graded(FLOAT channels[CHANNELS], NUMBERS const float *numbers, int parts) {
    NUMBERS const Grade *g = (NUMBERS const Grade *)numbers;
    FLOAT v[3];
    for (int c = 0; c < 3; c++) {
        v[c] = fma(channels[COLOURS == 1 ? 0 : c], (FLOAT)g->slope[c], (FLOAT)g->offset[c]);
        if (parts & POWER) v[c] = select(v[c], power(fabs(v[c]), g->power[c]), v[c] > 0.0f);
    }
    if (parts & CDL_SATURATION) saturate_by(v, g->cdl_saturation, g->luminance);
    if (parts & CONTRAST)
        for (int c = 0; c < 3; c++) v[c] = copysign(g->pivot * power(fabs(v[c]) / g->pivot, g->contrast), v[c]);
    if (parts & SATURATION) saturate_by(v, g->saturation, g->luminance);
    if (parts & CUBICS)
        for (int c = 0; c < 3; c++) v[c] = by_cubics(v[c], g->base, (NUMBERS const Cubic *)(g + 1), (int)g->cubics);
#if COLOURS == 1
    v[0] = luminance_by(g->luminance, v);
#endif
    for (int c = 0; c < COLOURS; c++)
        channels[c] = parts & ONLY_FINITE ? select(channels[c], v[c], finite_light(channels[c])) : v[c];
}
