// The index inside 0 … n − 1 whose sample stands at index i, as border.cl gives it for dcba|abcd|dcba, but without a
// branch, and right only up to n beyond the edges, and for n = 1. Farther out it gives some index inside.

static inline int reflected(int i, int n) {
    i = max(i, -1 - i);
    return max(min(i, 2 * n - 1 - i), 0);
}

// The same for columns of rows of n samples. With -D BORDER_WRAP_X rows wrap around, abcd|abcd|abcd, at any distance.
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
