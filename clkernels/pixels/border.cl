// The samples beyond the edges: border_index gives the index inside 0 … n − 1 whose sample stands at index i, for any
// i; −1 means that the constant stands there. Kernels ask border_column for columns, and border_index for all else.
//
// -D BORDER_REFLECT|MIRROR|NEAREST|WRAP   the mode, as drawn beside each below; without one it is the constant
// -D BORDER_WRAP_X            is BORDER_WRAP along rows and BORDER_REFLECT down columns
// -D BORDER_WRAP_X_CONSTANT   is BORDER_WRAP along rows and the constant down columns (only fft.cl uses it)

#if defined(BORDER_WRAP_X)
#define BORDER_REFLECT
#elif defined(BORDER_WRAP_X_CONSTANT)
#define BORDER_CONSTANT
#endif

static inline int wrapped(int i, int n) {  // abcd|abcd|abcd
    i %= n;
    return i < 0 ? i + n : i;
}

static inline int border_index(int i, int n) {
    if (i >= 0 && i < n) return i;
#if defined(BORDER_REFLECT)       // dcba|abcd|dcba
    int p = 2 * n;
    i %= p;
    i = i < 0 ? i + p : i;
    return i < n ? i : p - 1 - i;
#elif defined(BORDER_MIRROR)      // dcb|abcd|cba
    if (n == 1) return 0;
    int p = 2 * n - 2;
    i %= p;
    i = i < 0 ? i + p : i;
    return i < n ? i : p - i;
#elif defined(BORDER_NEAREST)     // aaaa|abcd|dddd
    return i < 0 ? 0 : n - 1;
#elif defined(BORDER_WRAP)        // abcd|abcd|abcd
    return wrapped(i, n);
#else                             // kkkk|abcd|kkkk
    return -1;
#endif
}

// Gives the same for column i of rows of n samples.
static inline int border_column(int i, int n) {
#if defined(BORDER_WRAP_X) || defined(BORDER_WRAP_X_CONSTANT)
    return i >= 0 && i < n ? i : wrapped(i, n);
#else
    return border_index(i, n);
#endif
}
