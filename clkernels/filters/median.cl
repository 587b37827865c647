// The median of a window of HEIGHT × WIDTH pixels, exactly: out[y, x] is the middle value of the sorted
// in[y + l, x + k], l = −HEIGHT/2 … HEIGHT/2, k = −WIDTH/2 … WIDTH/2. gpuops/filters/median_merges.py explains the
// method and writes step(), which takes TILE new rows and gives TILE medians of each column, BLOCKS · TILE rows above.
// Columns are the lanes of vectors, and work-items. Planes consist of rows of pixels, as in median_pixels.cl.
//
// -D LANES=n      is the number of lanes of a vector
// -D CLANG        the compiler is Clang, so that vectors may have more than 16 lanes
// -D ITEMS=n      is the number of work-items of a group
// -D VECTORS=n    is the number of vectors of columns of each
// -D HEIGHT=n -D WIDTH=n   are the window's size, both odd
// Group: (ITEMS, 1, 1), for `band` rows, a multiple of TILE. Dimension 2 counts planes.

#define COLUMNS (ITEMS * LANES * VECTORS)                        // elements of a row that a group makes
#define REACH (WIDTH / 2 * CHANNELS)                             // elements from a window's middle to its end
#define SEGMENT (COLUMNS + 2 * REACH)                            // elements of a row that a group reads
#define PITCH ((SEGMENT + LANES - 1) / LANES * LANES)            // their places in local memory

#define UNROLLED __attribute__((opencl_unroll_hint))

#if LANES == 1
typedef TYPE V;
#define LOAD_GLOBAL(p) (*(p))
#define LOAD_LOCAL(p) (*(p))
#define STORE_LOCAL(v, p) (*(p) = (v))
#define STORE_GLOBAL(v, p) (*(p) = (v))
#elif defined(CLANG)
typedef TYPE V __attribute__((ext_vector_type(LANES)));
typedef TYPE Unaligned __attribute__((ext_vector_type(LANES), aligned(sizeof(TYPE))));
#define LOAD_GLOBAL(p) (*(__global const Unaligned *)(p))
#define LOAD_LOCAL(p) (*(__local const Unaligned *)(p))
#define STORE_LOCAL(v, p) (*(__local Unaligned *)(p) = (v))
#define STORE_GLOBAL(v, p) (*(__global Unaligned *)(p) = (v))
#else
#define JOINED(a, b) a##b
#define NAME(a, b) JOINED(a, b)
typedef NAME(TYPE, LANES) V;
#define LOAD_GLOBAL(p) NAME(vload, LANES)(0, p)
#define LOAD_LOCAL(p) NAME(vload, LANES)(0, p)
#define STORE_LOCAL(v, p) NAME(vstore, LANES)(v, 0, p)
#define STORE_GLOBAL(v, p) NAME(vstore, LANES)(v, 0, p)
#endif

// The code that gpuops/filters/median_merges.py writes reads new row t at neighbour k by LOAD(t, k).
#define LOAD(t, k) LOAD_LOCAL(lines + (t) * PITCH + (k) * CHANNELS)

// Copies the image's row `row`, from element x on, to local memory as keys.
static inline void stage(__global const TYPE *in, __local TYPE *line, int item, int row, int x, int height, int width,
                         TYPE cval) {
    int y = border_index(row, height), first = 0, end = 0;  // first … end − 1 are copied as vectors
    int needed = min(SEGMENT, width - x + REACH);
    in += (size_t)max(y, 0) * width;
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
    for (int i = item; i < needed; i += ITEMS) {
        if (i == first) i = end;
        if (i >= needed) break;
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

#ifdef HELD

static inline void step(const __local TYPE *lines, V *held, V *medians);

// Fetches what the step for result rows y … will read and write of a vector's columns, from x on: rows are pages apart.
static inline void fetch_columns(__global const TYPE *in, __global TYPE *out, int y, int x, int height, int width) {
    for (int t = 0; t < TILE; t++) {
        int from = clamp(y + BLOCKS * TILE + t - 1 - HEIGHT / 2, 0, height - 1), to = clamp(y + t, 0, height - 1);
        FETCH_AHEAD(in + (size_t)from * width + x, 0, 3);
        FETCH_AHEAD(out + (size_t)to * width + x, 1, 3);
    }
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
    for (int y = y0 - BLOCKS * TILE; y < end; y += TILE) {  // y is a row of the result
        for (int t = 0; t < TILE; t++)
            stage(in, lines + t * PITCH, item, y + BLOCKS * TILE + t - 1 - HEIGHT / 2, x0 - REACH, height, width, cval);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int c = 0; c < VECTORS && x0 + c * LANES < width; c++) {
            fetch_columns(in, out, y + TILE, x0 + c * LANES, height, width);
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

#else

// For larger windows, lists in memory are merged as `table` says (Merges in gpuops/filters/median_merges.py). A
// work-item has MEMORY vectors of `memory`. The `tasks` are strips of columns in bands of rows; a work-item takes every
// so many-th of them.
#define RING (BLOCKS + 1)                // blocks in memory: the newest and those that its windows reach into
#define MEMORY (RING * BLOCK + SCRATCH)  // values of a work-item
#define FIELDS 10                        // numbers that describe a merge in `table`

// sort_values, by gpuops/filters/median_merges.py, sorts a row of the window.
#define SORT_ARGUMENTS const __local TYPE *lines, __global V *to
#define UNSORTED(k) LOAD(0, k)
#define SORTED(k) to[k]
static inline void sort_values(SORT_ARGUMENTS);

#define ORDER(a, b)          \
    {                        \
        V least = MIN(a, b); \
        b = MAX(a, b);       \
        a = least;           \
    }

// The values that the empty places before and after a list would hold.
#define HIGHEST ((TYPE)((TYPE)-1 < 0 ? ((ulong)1 << (8 * sizeof(TYPE) - 1)) - 1 : (ulong)-1))
#define LOWEST ((TYPE)~HIGHEST)

// Does the stages of distances 4e, 2e and e of an odd-even merge at once, for places first … end − 1; only least … most
// − 1 need be right. In each round eight new values, e apart, are merged with three from the round before.
static inline void three_stages(__global V *out, int e, int first, int end, int least, int most) {
    for (int j = 0; j < e; j++) {
        int start = (max(first, least - 16 * e) - j - 4 * e) / (8 * e) * 8 * e + j;
        V a = LOWEST, b = LOWEST, c = LOWEST;  // the values at start + e, + 2e, + 3e
        for (int at = start - 8 * e; at + e < most; at += 8 * e) {
            V v[8];
            if (at + 4 * e >= first && at + 11 * e < end) {
                UNROLLED
                for (int k = 0; k < 8; k++) v[k] = out[at + (k + 4) * e];
            } else {
                UNROLLED
                for (int k = 0; k < 8; k++) {
                    int place = at + (k + 4) * e;
                    v[k] = place < first ? (V)LOWEST : (V)HIGHEST;
                    if (place >= first && place < end) v[k] = out[place];
                }
            }
            UNROLLED
            for (int k = 0; k < 4; k++) ORDER(v[k], v[k + 4]);
            ORDER(b, v[0]);
            ORDER(c, v[1]);
            ORDER(v[2], v[4]);
            ORDER(v[3], v[5]);
            ORDER(a, b);
            ORDER(c, v[0]);
            ORDER(v[1], v[2]);
            ORDER(v[3], v[4]);
            if (at + e >= first && at + 8 * e < end) {
                out[at + e] = a, out[at + 2 * e] = b;
                out[at + 3 * e] = c;
                UNROLLED
                for (int k = 0; k < 5; k++) out[at + (k + 4) * e] = v[k];
            } else {
                V w[8] = {a, b, c, v[0], v[1], v[2], v[3], v[4]};
                UNROLLED
                for (int k = 0; k < 8; k++) {
                    int place = at + (k + 1) * e;
                    if (place >= first && place < end) out[place] = w[k];
                }
            }
            a = v[5], b = v[6], c = v[7];
        }
    }
}

// Batcher's odd-even merge. The lists meet in the middle of 2 · reach places; `out` has the places that are not empty.
// Only its first … end − 1 need be right.
static inline void merge(__global V *out, __global const V *a, int p, __global const V *b, int q, int first, int end) {
    int reach = 1;
    for (; reach < p || reach < q; reach *= 2) ;
    int before = reach - p;
    for (int i = 0; i < before && i < q; i++) out[i + p] = b[i];
    for (int i = max(before, q); i < reach; i++) out[i - before] = a[i - before];
    for (int i = before; i < q; i++) {
        V v = a[i - before], w = b[i];
        out[i - before] = MIN(v, w), out[i + p] = MAX(v, w);
    }
    int d = reach / 2;
    for (; d > 4 || (d && d < 4); d /= 2) {
        // These are places of `out`; the right values of a stage come from places at most d further.
        int least = max(0, first - 2 * d + 1), most = min(p + q - d, end + d - 1);
        for (int start = d - before; start < most; start += 2 * d)
            for (int i = max(start, least); i < min(start + d, most); i++) {
                V v = out[i], w = out[i + d];
                out[i] = MIN(v, w), out[i + d] = MAX(v, w);
            }
    }
    if (d == 4) three_stages(out - before, 1, before, before + p + q, before + first, before + end);
}

// The value of rank `rank` in both lists together: the least of the maxima of the i-th of a and the (rank + 1 − i)-th
// of b.
static inline V select_rank(__global const V *a, int p, __global const V *b, int q, int rank) {
    V found = rank < p ? a[rank] : b[rank - p];
    if (rank >= p && p > 0) found = MAX(found, a[p - 1]);
    for (int j = max(1, rank + 1 - p); j <= min(q, rank + 1); j++) {
        V v = b[j - 1];
        if (j <= rank) v = MAX(v, a[rank - j]);
        found = MIN(found, v);
    }
    return found;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void median_merges(__global const TYPE *restrict in, __global TYPE *restrict out, __global const int *restrict table,
                   int commands, __global V *memory, int height, int width, int band, int tasks, TYPE cval) {
    __local TYPE lines[TILE * PITCH];
    int item = get_local_id(0), strips = (width + COLUMNS - 1) / COLUMNS, bands = (height + band - 1) / band;
    memory += get_group_id(0) * (size_t)MEMORY;
    for (int task = get_group_id(0); task < tasks; task += get_num_groups(0)) {
        int x0 = task % strips * COLUMNS, y0 = task / strips % bands * band, end = min(y0 + band, height);
        size_t plane = (size_t)(task / strips / bands) * height * width;
        int newest = 0;  // the newest block's place in the ring
        for (int y = y0 - BLOCKS * TILE; y < end; y += TILE) {
            for (int t = 0; t < TILE; t++)
                stage(in + plane, lines + t * PITCH, item, y + BLOCKS * TILE + t - 1 - HEIGHT / 2, x0 - REACH, height,
                      width, cval);
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int t = 0; t < TILE; t++)
                sort_values(lines + t * PITCH + item, memory + newest * BLOCK + t * WIDTH);
            for (int k = 0; k < commands; k++) {
                __global const int *c = table + k * FIELDS;
                if (c[6] < 0 && y < y0) continue;
                int block_a = c[0] < 0 ? RING * BLOCK : (newest + c[0] + 1) % RING * BLOCK;
                int block_b = c[3] < 0 ? RING * BLOCK : (newest + c[3] + 1) % RING * BLOCK;
                __global const V *a = memory + block_a + c[1], *b = memory + block_b + c[4];
                if (c[6] != -2) {
                    int block = c[6] < 0 ? RING * BLOCK : newest * BLOCK;
                    merge(memory + block + c[7], a, c[2], b, c[5], c[8], c[9]);
                    continue;
                }
                int x = x0 + item * LANES, row = y + c[7];
                V v = select_rank(a, c[2], b, c[5], c[8]);
                if (row < end) store(ORDERED(V, v), out + plane + (size_t)row * width + x, width - x);
            }
            newest = newest + 1 == RING ? 0 : newest + 1;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}
#endif
