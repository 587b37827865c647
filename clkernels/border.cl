// What stands beyond the edges: the index inside 0…n−1 whose sample stands at index i, for any i.
// One mode is chosen by -D BORDER_x. A result of −1 means "outside" (constant).

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
    i %= n;
    return i < 0 ? i + n : i;
#else                             // kkkk|abcd|kkkk
    return -1;
#endif
}
