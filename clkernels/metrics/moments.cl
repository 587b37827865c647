// Weighted means and variances in square windows of two planes, a and b, by their sum s and their difference d:
//   σa² + σb² = (σs² + σd²) / 2        σa² + σb² − 2 σab = σd²
// The second one is what distinguishes the planes. It loses no digits where they are nearly equal, as 2 σab would.
//
// ⟨x²⟩ − ⟨x⟩² has no digits left where x is far from 0, or from any other number that were the same for many windows:
// pictures have lamps of 10,000 beside shadows of 0.05. So every window takes its values from its own middle c, whose
// weight is p. As ⟨(x − c)²⟩ is at most σ² / p, no more than 1 / p is lost.
//   down a column   m = c + ⟨x − c⟩                v = ⟨(x − c)²⟩ − ⟨x − c⟩²
//   along the row   μ = m₀ + ⟨m − m₀⟩              σ² = ⟨v⟩ + ⟨(m − m₀)²⟩ − ⟨m − m₀⟩²
// m − m₀ is a sum of steps from one column to the next, each of which is one of the pixels c and one of ⟨x − c⟩. So a
// window's values depend on nothing outside it, and on no group.
//
// Windows have TAPS × TAPS values, an odd number each way, and separable weights that are the same both ways from the
// middle. A group goes down a strip of columns. It keeps the last TAPS rows of both planes in a ring. Of each column it
// puts the moments into lines, and then windows are sums along these. There are two sets of lines that take turns, so
// that nobody overwrites what others read.
//
// -D TAPS=n   is the size of a window along each axis
// -D LOW      values are sums of two floats, as shrink.cl has them
// The file stands after lanes.cl and sums.cl.

#define MIDDLE (TAPS / 2)
#ifdef LOW
#define ROWS 4  // of the ring: a, b, and what their floats lack
#else
#define ROWS 2
#endif

enum { MEAN_S, MEAN_D, VARIANCE_S, VARIANCE_D, STEP_S, STEP_D, LINES };

#if WIDTH == 1
#define FETCH(p) (*(p))
#define PUT(v, p) (*(p) = (v))
#else
#define FETCH(p) vload8(0, p)
#define PUT(v, p) vstore8(v, 0, p)
#endif

typedef struct {
    FLOAT a, b, variances, apart;  // the means of a and of b, σa² + σb², and σ² of a − b
} Moments;

// Of weighted values of s and d, or of their squares.
typedef struct {
    FLOAT s, d;
} Both;

// x, or 0 where rounding made it negative; NaN stays NaN.
static inline FLOAT not_negative(FLOAT x) {
    return select(x, (FLOAT)0.0f, x < 0.0f);
}

// The row of the ring that came `before` rows ahead of the one in the slot `newest`. Each has ROWS.
static inline __local float *row_before(__local float *ring, int length, int newest, int before) {
    return ring + ROWS * length * (newest < before ? newest - before + TAPS : newest - before);
}

// p − q of two places in the ring.
static inline FLOAT distance_of(__local const float *p, __local const float *q, int length) {
#ifdef LOW
    return FETCH(p) - FETCH(q) + (FETCH(p + 2 * length) - FETCH(q + 2 * length));
#else
    return FETCH(p) - FETCH(q);
#endif
}

static inline void add_weighted(Both *means, Both *squares, float w, Both p, Both q) {
    means->s = fma(w, p.s + q.s, means->s);
    means->d = fma(w, p.d + q.d, means->d);
    squares->s = fma(w, fma(p.s, p.s, q.s * q.s), squares->s);
    squares->d = fma(w, fma(p.d, p.d, q.d * q.d), squares->d);
}

// Puts the moments of WIDTH columns from i on into the lines, which are `length` values apart.
static inline void down(__local float *ring, int i, int length, int newest, __global const float *weights,
                        __local float *lines) {
    __local const float *middle = row_before(ring, length, newest, MIDDLE) + i;
    Both means = {0.0f, 0.0f}, squares = {0.0f, 0.0f};
    UNROLLED
    for (int k = 1; k <= MIDDLE; k++) {
        __local const float *above = row_before(ring, length, newest, MIDDLE + k) + i;
        __local const float *below = row_before(ring, length, newest, MIDDLE - k) + i;
        FLOAT pa = distance_of(above, middle, length), pb = distance_of(above + length, middle + length, length);
        FLOAT qa = distance_of(below, middle, length), qb = distance_of(below + length, middle + length, length);
        Both p = {pa + pb, pa - pb}, q = {qa + qb, qa - qb};
        add_weighted(&means, &squares, weights[MIDDLE + k], p, q);
    }
    PUT(means.s, lines + MEAN_S * length + i);
    PUT(means.d, lines + MEAN_D * length + i);
    PUT(not_negative(squares.s - means.s * means.s), lines + VARIANCE_S * length + i);
    PUT(not_negative(squares.d - means.d * means.d), lines + VARIANCE_D * length + i);
}

// Puts the steps from columns i … i + WIDTH − 1 to the next ones into the lines.
static inline void step_along(__local float *ring, int i, int length, int newest, __local float *lines) {
    __local const float *a = row_before(ring, length, newest, MIDDLE) + i, *b = a + length;
    __local const float *s = lines + MEAN_S * length + i, *d = lines + MEAN_D * length + i;
    FLOAT of_a = distance_of(a + 1, a, length), of_b = distance_of(b + 1, b, length);
    PUT(of_a + of_b + (FETCH(s + 1) - FETCH(s)), lines + STEP_S * length + i);
    PUT(of_a - of_b + (FETCH(d + 1) - FETCH(d)), lines + STEP_D * length + i);
}

// The moments of the windows of which columns i … i + WIDTH − 1 are the first.
static inline Moments along(__local float *ring, int i, int length, int newest, __global const float *weights,
                            __local const float *lines) {
    i += MIDDLE;
    __local const float *steps = lines + STEP_S * length + i, *variances = lines + VARIANCE_S * length + i;
    Both means = {0.0f, 0.0f}, p = {0.0f, 0.0f}, q = {0.0f, 0.0f}, squares;
    squares.s = weights[MIDDLE] * FETCH(variances);
    squares.d = weights[MIDDLE] * FETCH(variances + length);
    UNROLLED
    for (int k = 1; k <= MIDDLE; k++) {
        float w = weights[MIDDLE + k];
        p.s -= FETCH(steps - k);
        p.d -= FETCH(steps + length - k);
        q.s += FETCH(steps + k - 1);
        q.d += FETCH(steps + length + k - 1);
        add_weighted(&means, &squares, w, p, q);
        squares.s = fma(w, FETCH(variances - k) + FETCH(variances + k), squares.s);
        squares.d = fma(w, FETCH(variances + length - k) + FETCH(variances + length + k), squares.d);
    }
    __local const float *middle = row_before(ring, length, newest, MIDDLE) + i;
    FLOAT s = means.s + FETCH(lines + MEAN_S * length + i), d = means.d + FETCH(lines + MEAN_D * length + i);
    FLOAT apart = not_negative(squares.d - means.d * means.d);
    Moments m = {FETCH(middle) + 0.5f * (s + d), FETCH(middle + length) + 0.5f * (s - d),
                 0.5f * (not_negative(squares.s - means.s * means.s) + apart), apart};
    return m;
}

// Sums with their rounding errors, as `add` in sums.cl, each lane for itself.
typedef struct {
    FLOAT sum, lost;
} Total;

static inline void accumulate(Total *total, FLOAT x) {
    FLOAT s = total->sum + x, t = s - total->sum;
    total->lost += (total->sum - (s - t)) + (x - t);
    total->sum = s;
}

// Folds the lanes of all work-items' totals, for work-item 0. The whole group calls this.
static inline float2 group_total(Total total, __local float2 *sums) {
    float2 sum = (float2)(lane(total.sum, 0), lane(total.lost, 0));
    for (int k = 1; k < WIDTH; k++) sum = add(sum, (float2)(lane(total.sum, k), lane(total.lost, k)));
    barrier(CLK_LOCAL_MEM_FENCE);  // the sums before are read
    sums[get_local_id(0)] = sum;
    fold_sums(sums);
    return get_local_id(0) == 0 ? sums[0] : (float2)(0.0f);
}
