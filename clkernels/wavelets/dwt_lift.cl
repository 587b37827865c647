// A wavelet's lifting steps on a row of PAIRS pairs of samples, and on the columns that such rows make.
//
// After dwt_layout.cl and the wavelet's steps as a macro (gpuops/wavelets/lifting.py).
// -D BEFORE=n, AFTER=n    columns that a row's own depend on, multiples of four

#define UNROLLED _Pragma("unroll")
#define PAIRS 4           // of a work-item's columns
#define COLUMNS (2 * PAIRS)
#define OWN (BEFORE / 2)  // one's own first pair among those that a row is lifted with

// First all even samples.
typedef struct {
    S v[2 * PAIRS];
} Row;

// The steps along x, so that one's own pairs come out right.
#define ALONG_X(target, other, first_tap, taps, before, after, again, ...)                                             \
    {                                                                                                                  \
        const S weights[] = {__VA_ARGS__};                                                                             \
        UNROLLED for (int k = OWN - before; k < OWN + PAIRS + after; k++)                                                  \
            UNROLLED for (int j = 0; j < taps; j++) target[k] = fma(weights[j], other[k + first_tap + j], target[k]);  \
    }

static inline void lift_row(S *e, S *o) {
    STEPS(ALONG_X)
}

// Of KEPT pairs of rows the last is the newest; RIGHT before it is the one that this finishes.
#define NEWEST (KEPT - 1)
#define FINISHED (NEWEST - RIGHT)

#define ALONG_Y(target, other, first_tap, taps, before, after, again, ...)                                             \
    {                                                                                                                  \
        const S weights[] = {__VA_ARGS__};                                                                             \
        const int k = FINISHED + after;                                                                                \
        UNROLLED for (int j = 0; j < taps; j++)                                                                        \
            UNROLLED for (int c = 0; c < 2 * PAIRS; c++)                                                                   \
                target[k].v[c] = fma(weights[j], other[k + first_tap + j].v[c], target[k].v[c]);                       \
    }

static inline void lift_columns(Row *e, Row *o) {
    STEPS(ALONG_Y)
}

static inline Row scaled(Row row, S even, S odd) {
    Row result;  // Mesa's compiler may change the caller's `row` if this one is changed
    UNROLLED
    for (int k = 0; k < PAIRS; k++) result.v[k] = even * row.v[k], result.v[PAIRS + k] = odd * row.v[PAIRS + k];
    return result;
}

// One's own columns of a row, lifted with what neighbours put into `line`, which begins BEFORE columns before them.
static inline Row lifted(Row own, __local const S *line) {
    S e[OWN + PAIRS + AFTER / 2], o[OWN + PAIRS + AFTER / 2];
    UNROLLED
    for (int k = 0; k < PAIRS; k++) e[OWN + k] = own.v[k], o[OWN + k] = own.v[PAIRS + k];
    UNROLLED
    for (int c = 0; c < BEFORE + AFTER; c += 4) {
        const int from = c < BEFORE ? c : c + 2 * PAIRS, k = from / 2;
        const S4 v = *(__local const S4 *)(line + from);
        e[k] = v.x, o[k] = v.y, e[k + 1] = v.z, o[k + 1] = v.w;
    }
    lift_row(e, o);
    Row row;
    UNROLLED
    for (int k = 0; k < PAIRS; k++) row.v[k] = e[OWN + k], row.v[PAIRS + k] = o[OWN + k];
    return row;
}
