// A wavelet's lifting steps on a row of N pairs of samples, and on the columns that such rows make.
//
// After dwt_layout.cl and the wavelet's steps as a macro (gpuops/wavelets/lifting.py). What it defines has N in its name,
// for programs with several.
// -D N=n                  pairs
// -D BEFORE=n, AFTER=n    columns that a row's own depend on, multiples of four

#define UNROLLED _Pragma("unroll")
#define OWN (BEFORE / 2)  // one's own first pair among those that a row is lifted with

#define Row JOIN(Row, N)
#define lift_row JOIN(lift_row, N)
#define lift_columns JOIN(lift_columns, N)
#define scaled JOIN(scaled, N)
#define lifted JOIN(lifted, N)

// First all even samples.
typedef struct {
    S v[2 * N];
} Row;

// The steps along x, so that one's own pairs come out right.
#define ALONG_X(target, other, first_tap, taps, before, after, again, ...)                                             \
    {                                                                                                                  \
        const S weights[] = {__VA_ARGS__};                                                                             \
        UNROLLED for (int k = OWN - before; k < OWN + N + after; k++)                                                  \
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
            UNROLLED for (int c = 0; c < 2 * N; c++)                                                                   \
                target[k].v[c] = fma(weights[j], other[k + first_tap + j].v[c], target[k].v[c]);                       \
    }

static inline void lift_columns(Row *e, Row *o) {
    STEPS(ALONG_Y)
}

static inline Row scaled(Row row, S even, S odd) {
    Row result;  // Mesa's compiler may change the caller's `row` if this one is changed
    UNROLLED
    for (int k = 0; k < N; k++) result.v[k] = even * row.v[k], result.v[N + k] = odd * row.v[N + k];
    return result;
}

// One's own columns of a row, lifted with what neighbours put into `line`, which begins BEFORE columns before them.
static inline Row lifted(Row own, __local const S *line) {
    S e[OWN + N + AFTER / 2], o[OWN + N + AFTER / 2];
    UNROLLED
    for (int k = 0; k < N; k++) e[OWN + k] = own.v[k], o[OWN + k] = own.v[N + k];
    UNROLLED
    for (int c = 0; c < BEFORE + AFTER; c += 4) {
        const int from = c < BEFORE ? c : c + 2 * N, k = from / 2;
        const S4 v = *(__local const S4 *)(line + from);
        e[k] = v.x, o[k] = v.y, e[k + 1] = v.z, o[k + 1] = v.w;
    }
    lift_row(e, o);
    Row row;
    UNROLLED
    for (int k = 0; k < N; k++) row.v[k] = e[OWN + k], row.v[N + k] = o[OWN + k];
    return row;
}

#undef Row
#undef lift_row
#undef lift_columns
#undef scaled
#undef lifted
