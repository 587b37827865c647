// The index inside 0 … n − 1 whose sample stands at index i: dcba|abcd|dcba, as border.cl has it, but without a jump, and
// right only up to n beyond the edges, and for n = 1. What is further out gets some index inside.

static inline int reflected(int i, int n) {
    i = max(i, -1 - i);
    return max(min(i, 2 * n - 1 - i), 0);
}

// The same of a column of rows of n; with -D BORDER_WRAP_X rows go round, abcd|abcd|abcd, and it is right anywhere.
#ifdef BORDER_WRAP_X
#define ROWS_MIRROR 0
static inline int column_of(int i, int n) {
    i %= n;
    return i < 0 ? i + n : i;
}
#else
#define ROWS_MIRROR 1
static inline int column_of(int i, int n) { return reflected(i, n); }
#endif
