// The median of a window of HEIGHT × WIDTH pixels, exactly: out[y, x] is the value in the middle of the sorted
// in[y + l, x + k], l = −HEIGHT/2 … HEIGHT/2, k = −WIDTH/2 … WIDTH/2. How: gpuops/networks.py, whose step() takes TILE new
// rows and gives TILE medians of each column, BLOCKS · TILE rows above. Columns are lanes of vectors, and work-items.
// Rows (plane, row, column, channel): `width` counts columns times channels; neighbours are CHANNELS apart.
// Border: see border.cl; outside (constant) counts as cval. NaN is the largest value of all, as in numpy.sort.
//
// -D TYPE=x       of the pixels; floats as whole numbers of as many bits
// -D NAN_BITS=x   floats: of a NaN   -D MOST_BITS=x   all but the sign
// -D LANES=n      of a vector; more than 16 need a compiler that knows Clang's vectors
// -D ITEMS=n      work-items of a group   -D VECTORS=n   columns' vectors of each
// -D HEIGHT=n -D WIDTH=n   -D CHANNELS=n   -D BORDER_x
// Group: (ITEMS, 1, 1), for `band` rows, of TILEs. Dimension 2 counts planes.

#define COLUMNS (ITEMS * LANES * VECTORS)
#define REACH (WIDTH / 2 * CHANNELS)
#define SEGMENT (COLUMNS + 2 * REACH)  // of a row
#define PITCH ((SEGMENT + LANES - 1) / LANES * LANES)

#define UNROLLED __attribute__((opencl_unroll_hint))

#if LANES == 1
typedef TYPE V;
#define LOAD_GLOBAL(p) (*(p))
#define LOAD_LOCAL(p) (*(p))
#define STORE_LOCAL(v, p) (*(p) = (v))
#define STORE_GLOBAL(v, p) (*(p) = (v))
#elif LANES <= 16
#define JOINED(a, b) a##b
#define NAME(a, b) JOINED(a, b)
typedef NAME(TYPE, LANES) V;
#define LOAD_GLOBAL(p) NAME(vload, LANES)(0, p)
#define LOAD_LOCAL(p) NAME(vload, LANES)(0, p)
#define STORE_LOCAL(v, p) NAME(vstore, LANES)(v, 0, p)
#define STORE_GLOBAL(v, p) NAME(vstore, LANES)(v, 0, p)
#else
typedef TYPE V __attribute__((ext_vector_type(LANES)));
typedef TYPE Unaligned __attribute__((ext_vector_type(LANES), aligned(sizeof(TYPE))));
#define LOAD_GLOBAL(p) (*(__global const Unaligned *)(p))
#define LOAD_LOCAL(p) (*(__local const Unaligned *)(p))
#define STORE_LOCAL(v, p) (*(__local Unaligned *)(p) = (v))
#define STORE_GLOBAL(v, p) (*(__global Unaligned *)(p) = (v))
#endif

#if 1
#define PREFETCH(p, w) __builtin_prefetch((const void *)(size_t)(p), w)
#endif

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) < (b) ? (b) : (a))

// What gpuops/networks.py writes: reads row t of TILE new ones at neighbour k by LOAD(t, k).
#define LOAD(t, k) LOAD_LOCAL(lines + (t) * PITCH + (k) * CHANNELS)
static inline void step(const __local TYPE *lines, V *held, V *medians);

// Floats as whole numbers of the same order (negative ones' magnitude is turned round), all NaN as one; and back.
#ifdef NAN_BITS
#define ORDERED(T, v) ((v) ^ ((v) >> (T)(8 * sizeof(TYPE) - 1) & (T)MOST_BITS))
#define KEY(T, v) (((v) & (T)MOST_BITS) > (T)INFINITE_BITS ? (T)NAN_BITS : ORDERED(T, v))
#else
#define ORDERED(T, v) (v)
#define KEY(T, v) (v)
#endif

// What stands at element `at` of a row, or beyond it.
static inline TYPE element(__global const TYPE *in, int at, int width, TYPE cval) {
    if (at < 0 || at >= width) {
        int pixel = at >= 0 ? at / CHANNELS : -1 - (-1 - at) / CHANNELS, channel = at - pixel * CHANNELS;
        pixel = border_index(pixel, width / CHANNELS);
        if (pixel < 0) return cval;
        at = pixel * CHANNELS + channel;
    }
    return in[at];
}

// Of the image's row `row`, from element x on, to local memory.
static inline void stage(__global const TYPE *in, __local TYPE *line, int item, int row, int x, int height, int width,
                         TYPE cval) {
    int y = border_index(row, height), first = 0, end = 0;  // of what is copied by vectors
    in += (size_t)y * width;
#if LANES > 1
    if (y >= 0 && width >= LANES) {
        first = max(-x, 0), end = min(width - x, SEGMENT);
        if (first + LANES > end) end = first;
        for (int i = first; i < end; i += LANES) {
            int at = min(i, end - LANES);
            V v = LOAD_GLOBAL(in + x + at);
            STORE_LOCAL(KEY(V, v), line + at);
        }
    }
#endif
    for (int i = item; i < SEGMENT; i += ITEMS) {
        if (i == first) i = end;
        if (i >= SEGMENT) break;
        TYPE v = y < 0 ? cval : element(in, x + i, width, cval);
        line[i] = KEY(TYPE, v);
    }
}

static inline void store(V v, __global TYPE *to, int count) {
    if (count >= LANES) {
        STORE_GLOBAL(v, to);
        return;
    }
#if LANES > 1
    for (int i = 0; i < count; i++) to[i] = ((const TYPE *)&v)[i];
#endif
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void median_network(__global const TYPE *restrict in, __global TYPE *restrict out, int height, int width, int band,
                    TYPE cval) {
    __local TYPE lines[TILE * PITCH];
    int item = get_local_id(0), x0 = get_group_id(0) * COLUMNS, y0 = get_group_id(1) * band, end = min(y0 + band, height);
    in += get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)height * width;
    V held[VECTORS][HELD], medians[TILE];
    for (int c = 0; c < VECTORS; c++)
        UNROLLED
        for (int k = 0; k < HELD; k++) held[c][k] = 0;
    for (int y = y0 - BLOCKS * TILE; y < end; y += TILE) {  // of the result
        for (int t = 0; t < TILE; t++)
            stage(in, lines + t * PITCH, item, y + BLOCKS * TILE + t - 1 - HEIGHT / 2, x0 - REACH, height, width, cval);
        barrier(CLK_LOCAL_MEM_FENCE);
#ifdef PREFETCH
        for (int t = 0; t < TILE; t++) {
            int from = min(y + (BLOCKS + 1) * TILE + t - 1 - HEIGHT / 2, height - 1), to = min(y + TILE + t, height - 1);
            from = max(from, 0), to = max(to, 0);
            for (int c = 0; c < VECTORS && x0 + c * LANES < width; c++) {
                PREFETCH(in + (size_t)from * width + x0 + c * LANES, 0);
                PREFETCH(out + (size_t)to * width + x0 + c * LANES, 1);
            }
        }
#endif
        for (int c = 0; c < VECTORS && x0 + c * LANES < width; c++) {
            step(lines + item + c * LANES, held[c], medians);
            int x = x0 + item + c * LANES;
            UNROLLED
            for (int t = 0; t < TILE; t++)
                if (y >= y0 && y + t < end)
                    store(ORDERED(V, medians[t]), out + (size_t)(y + t) * width + x, width - x);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
