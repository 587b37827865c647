// The weight of a box of 4 × 4 pixels on the way to bloom's first level is 1 / (1 + karis · luma of its mean), which
// dims single hot pixels (B. Karis, Tone Mapping, 2013). karis is the exposure, or 0 to weigh all boxes alike.
//
// -D FIRST        is for the first level; on other levels the weight is 1
// -D CHANNELS=n   is the number of planes of a pixel
// -D COLOURS=n    is the number of planes that are not alpha
// -D WIDE         takes 8 boxes in a vector
// -D NATIVE       divides by a GPU's own reciprocal, which may have few bits, improved by a step of Newton's method

#ifdef WIDE
typedef float8 boxes_t;
#else
typedef float boxes_t;
#endif

#ifdef NATIVE
static inline float reciprocal(float v) {
    float r = native_recip(v);
    return fma(r, fma(-v, r, 1.0f), r);
}
#else
static inline boxes_t reciprocal(boxes_t v) { return 1.0f / v; }
#endif

static inline boxes_t luma(const boxes_t *v, int stride) {  // Rec. 709's, or the mean where there are not three colours
    if (COLOURS == 3) return 0.2126f * v[0] + 0.7152f * v[stride] + 0.0722f * v[2 * stride];
    boxes_t sum = v[0];
    for (int c = 1; c < COLOURS; c++) sum += v[c * stride];
    return sum / (float)COLOURS;
}

// box[c · stride] is the sum of the box's pixels in channel c.
static inline boxes_t weight_of(const boxes_t *box, int stride, float karis) {
#ifdef FIRST
    return reciprocal(fmin(1.0f + karis * fmax(luma(box, stride) * 0.0625f, (boxes_t)0.0f), (boxes_t)1e30f));
#else
    return 1.0f;
#endif
}
