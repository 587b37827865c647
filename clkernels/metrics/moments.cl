// Weighted means in square windows of two planes, a and b, and of a² + b² and (a − b)². Variances follow from them:
//   σa² + σb² = ⟨a² + b²⟩ − ⟨a⟩² − ⟨b⟩²        σa² + σb² − 2 σab = ⟨(a − b)²⟩ − ⟨a − b⟩²
// The second one is what distinguishes the planes. It loses no digits where they are nearly equal, as 2 σab would.
//
// Windows have TAPS × TAPS values, and separable weights. A group goes down a strip of columns. Of each row, it puts
// the four quantities into local lines, sums them along the row into a ring of the last TAPS rows, and sums the rows of
// the ring. These stay where they are while the weights turn: `weights` holds the TAPS weights of an axis twice.
//
// -D TAPS=n   is the size of a window along each axis
// The file stands after lanes.cl and sums.cl.

#define QUANTITIES 4  // a, b, a² + b², (a − b)²

#if WIDTH == 1
#define FETCH(p) (*(p))
#define PUT(v, p) (*(p) = (v))
#else
#define FETCH(p) vload8(0, p)
#define PUT(v, p) vstore8(v, 0, p)
#endif

typedef struct {
    FLOAT a, b, squares, error;  // means of a, b, a² + b² and (a − b)²
} Moments;

// Puts WIDTH values into the four lines, which are `length` values apart.
static inline void put(FLOAT a, FLOAT b, __local float *line, int length) {
    FLOAT difference = a - b;
    PUT(a, line);
    PUT(b, line + length);
    PUT(fma(a, a, b * b), line + 2 * length);
    PUT(difference * difference, line + 3 * length);
}

// Sums TAPS values of each line, from `line` on, into a row of the ring, whose quantities are `strip` values apart.
static inline void along(__local const float *line, int length, __global const float *weights, __local float *ring,
                         int strip) {
    FLOAT sums[QUANTITIES];
    UNROLLED
    for (int q = 0; q < QUANTITIES; q++) sums[q] = 0.0f;
    UNROLLED
    for (int k = 0; k < TAPS; k++) {
        FLOAT w = weights[k];
        UNROLLED
        for (int q = 0; q < QUANTITIES; q++) sums[q] = fma(w, FETCH(line + q * length + k), sums[q]);
    }
    UNROLLED
    for (int q = 0; q < QUANTITIES; q++) PUT(sums[q], ring + q * strip);
}

// Sums the rows of the ring. The row that came last is number `newest` in it.
static inline Moments down(__local const float *ring, int strip, __global const float *weights, int newest) {
    FLOAT sums[QUANTITIES];
    weights += TAPS - 1 - newest;
    UNROLLED
    for (int q = 0; q < QUANTITIES; q++) sums[q] = 0.0f;
    UNROLLED
    for (int k = 0; k < TAPS; k++) {
        FLOAT w = weights[k];
        UNROLLED
        for (int q = 0; q < QUANTITIES; q++) sums[q] = fma(w, FETCH(ring + (k * QUANTITIES + q) * strip), sums[q]);
    }
    Moments m = {sums[0], sums[1], sums[2], sums[3]};
    return m;
}

// x, or 0 where rounding made it negative; NaN stays NaN.
static inline FLOAT not_negative(FLOAT x) {
    return select(x, (FLOAT)0.0f, x < 0.0f);
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
