// FETCH_AHEAD(p, written, level) has the processor fetch what is at p before it is needed: `written` is 1 if it will be
// written, and `level` is 3 for the nearest cache, 2 for the next one. The processor's own fetching ends with a page.
//
// -D CLANG     the compiler is Clang, which knows how
// -D AHEAD=n   is 0 if the device cannot (CLANG only)

#ifdef CLANG
#define FETCH_AHEAD(p, written, level) \
    if (AHEAD) __builtin_prefetch((const void *)(size_t)(p), written, level)
#else
#define FETCH_AHEAD(p, written, level)
#endif
