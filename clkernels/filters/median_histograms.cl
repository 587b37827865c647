// The median of a window of HEIGHT × WIDTH pixels, exactly, for windows too large for straight-line code on GPUs: a group
// takes a region of REGION_X × REGION_Y pixels, border included, and gives ACROSS columns of results.
// Every column has a histogram of the HEIGHT rows of the window, of 256 buckets in bytes, and a coarse one of 16: these take in
// a row and let go of one as the window moves down. A window's histogram is the sum of WIDTH columns': of its 16 coarse counts
// first, and then of the 16 fine ones of which the first of these holds the median; so the work of a pixel is linear in WIDTH.
// Eight bits are their own buckets. Others are sorted in the region first: a bucket is 16 neighbours in that order, of which
// a window's are counted in the end.
// Source: T. S. Huang et al., "A fast two-dimensional median filtering algorithm", IEEE Trans. ASSP 27, 1979; histograms of
// columns, of two levels: S. Perreault, P. Hébert, "Median filtering in constant time", IEEE Trans. Image Process. 16, 2007.
// Sorting by merges of which each work-item makes a part: S. Odeh et al., "Merge path", IPDPSW 2012.
// Planes of rows of pixels: see median_pixels.cl.
//
// -D BITS=8|16|32   of a pixel
// -D HEIGHT=n -D WIDTH=n   -D REGION_Y=n   REGION_X · REGION_Y is REGION at most
// Group: (ACROSS, PARTS). Dimension 2 counts planes · channels. histograms: bytes of these, 4 · (ITEMS + ACROSS) and REGION,
// and 2 · REGION where pixels are sorted; an argument, since work-groups on PoCL 3.1 may share what the kernel declares.

#define ACROSS 32  // results of a row, one of each of PARTS work-items
#define PARTS 4    // of a histogram
#define ITEMS (ACROSS * PARTS)
#define REGION_X (ACROSS + WIDTH - 1)
#define REGION 4096
#define UNROLLED __attribute__((opencl_unroll_hint))

// Histograms, in words of four counts: word w of column c is at w · COLUMNS + c, so that neighbours never meet in a bank.
#define COLUMNS 64
#define FINE 64    // words
#define COARSE 4
#define AT_ONCE (255 / HEIGHT)  // columns whose counts' sums are bytes

#define SIGN (TYPE)((TYPE)-1 < 0 ? 1u << (BITS - 1) : 0)  // with it turned round, keys are in the order of unsigned ones

static inline TYPE pixel(__global const TYPE *in, int place, int x0, int y0, int channel, int height, int width, TYPE cval) {
    int y = border_index(y0 + place / REGION_X, height), x = (x0 + place % REGION_X) * CHANNELS + channel;
    TYPE v = y < 0 ? cval : element(in + (size_t)y * width, x, width, cval);
    return KEY(TYPE, v);
}

#if BITS > 8

// A pixel's key, and behind it its place in the region: all are different.
#define PLACE 12
#if BITS == 16
typedef uint V;
#define KEYS ushort
#else
typedef ulong V;
#define KEYS uint
#endif
#define RUN 16  // pixels in the order of their keys: a work-item's part of a merge, in the end a bucket
#define RUNS (REGION / RUN / ITEMS)

// Of a run, by gpuops/networks.py.
#define SORT_ARGUMENTS V *values
#define UNSORTED(k) values[k]
#define SORTED(k) values[k]
static inline void sort_values(SORT_ARGUMENTS);

// Sixteenths of a sorted list, which all work-items read or write at once, are in different banks.
static inline int spread(int rank) { return rank ^ (rank >> 5 & 15); }

static inline V keyed(const __local KEYS *keys, const __local ushort *places, int rank) {
    rank = spread(rank);
    return (V)keys[rank] << PLACE | places[rank];
}

// Values `first` … of the merged lists of `length` that begin at multiples of 2 · length.
static inline void merge(const __local KEYS *keys, const __local ushort *places, int first, int length, V *run) {
    int a = first & -2 * length, b = a + length, end_a = b, end_b = b + length, before = first - a;
    int least = max(0, before - length), most = min(before, length);  // of those before, from a
    while (least < most) {
        int middle = (least + most) / 2;
        if (keyed(keys, places, a + middle) < keyed(keys, places, b + before - 1 - middle))
            least = middle + 1;
        else
            most = middle;
    }
    a += least, b += before - least;
    V next_a = a < end_a ? keyed(keys, places, a) : (V)-1, next_b = b < end_b ? keyed(keys, places, b) : (V)-1;
    UNROLLED
    for (int k = 0; k < RUN; k++) {
        int from_a = next_a < next_b, next = from_a ? ++a : ++b;
        run[k] = from_a ? next_a : next_b;
        V v = next < (from_a ? end_a : end_b) ? keyed(keys, places, next) : (V)-1;
        next_a = from_a ? v : next_a;
        next_b = from_a ? next_b : v;
    }
}

// All of a region: the places in the order of their keys, and each place's bucket.
static inline void sort(__global const TYPE *in, __local KEYS *keys, __local ushort *places, __local uchar *buckets, int item,
                        int x0, int y0, int channel, int height, int width, TYPE cval) {
    V runs[RUNS][RUN];
    UNROLLED
    for (int n = 0; n < RUNS; n++) {
        UNROLLED
        for (int k = 0; k < RUN; k++) {
            int place = (n * RUN + k) * ITEMS + item;
            KEYS key = -1;  // beyond the region: in no window
            if (place < REGION_X * REGION_Y) key = pixel(in, place, x0, y0, channel, height, width, cval) ^ SIGN;
            runs[n][k] = (V)key << PLACE | place;
        }
        sort_values(runs[n]);
    }
    for (int length = RUN; length <= REGION; length *= 2) {
        UNROLLED
        for (int n = 0; n < RUNS; n++)
            UNROLLED
            for (int k = 0; k < RUN; k++) {
                int to = spread((item * RUNS + n) * RUN + k), place = runs[n][k] & ((1 << PLACE) - 1);
                keys[to] = runs[n][k] >> PLACE;
                places[to] = place;
                if (length == REGION) buckets[place] = item * RUNS + n;
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (length == REGION) break;
        UNROLLED
        for (int n = 0; n < RUNS; n++) merge(keys, places, (item * RUNS + n) * RUN, length, runs[n]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif

static inline void count(__local uint *histogram, uint value, uint by) {
    histogram[value / 4 * COLUMNS] += by << value % 4 * 8;
}

// Sums of four counts over WIDTH columns.
static inline void window_sums(const __local uint *word, int *counts) {
    uint sum = 0, even = 0, odd = 0;
    UNROLLED
    for (int k = 0; k < WIDTH; k++) {
        sum += word[k];
        if ((k + 1) % AT_ONCE == 0 || k == WIDTH - 1) {
            even += sum & 0x00ff00ff;
            odd += sum >> 8 & 0x00ff00ff;
            sum = 0;
        }
    }
    counts[0] = even & 0xffff, counts[1] = odd & 0xffff, counts[2] = even >> 16, counts[3] = odd >> 16;
}

// Of 16 counts, four in each part: the one in which the value of a rank is. The rank becomes the one therein.
static inline int find(const int *counts, int *rank, __local int *totals, __local int *found, int column, int part) {
    int first = 4 * part, before = 0, total = counts[0] + counts[1] + counts[2] + counts[3];
    totals[part * ACROSS + column] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < part; p++) before += totals[p * ACROSS + column];
    if (*rank >= before && *rank < before + total) {
        int left = *rank - before, k = 0, below = 0, sum = 0;
        for (int j = 0; j < 3; j++)
            if (left >= (sum += counts[j])) below = sum, k = j + 1;
        found[column] = (left - below) << 4 | (first + k);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *rank = found[column] >> 4;
    return found[column] & 15;
}

__kernel __attribute__((reqd_work_group_size(ACROSS, PARTS, 1)))
void median_histograms(__global const TYPE *restrict in, __global TYPE *restrict out, int height, int width, TYPE cval,
                       __local uint *histograms) {
    __local int *totals = (__local int *)(histograms + (FINE + COARSE) * COLUMNS), *found = totals + ITEMS;
    __local uchar *buckets = (__local uchar *)(found + ACROSS);
    int column = get_local_id(0), part = get_local_id(1), item = part * ACROSS + column;
    int x0 = get_group_id(0) * ACROSS, y0 = get_group_id(1) * (REGION_Y - HEIGHT + 1), channel = get_group_id(2) % CHANNELS;
    int left = x0 - WIDTH / 2, top = y0 - HEIGHT / 2, x = (x0 + column) * CHANNELS + channel;
    in += get_group_id(2) / CHANNELS * (size_t)height * width;
    out += get_group_id(2) / CHANNELS * (size_t)height * width;
#if BITS > 8
    __local ushort *places = (__local ushort *)(buckets + REGION);
    sort(in, (__local KEYS *)histograms, places, buckets, item, left, top, channel, height, width, cval);
#else
    for (int place = item; place < REGION_X * REGION_Y; place += ITEMS)
        buckets[place] = pixel(in, place, left, top, channel, height, width, cval) ^ SIGN;
#endif
    for (int i = item; i < (FINE + COARSE) * COLUMNS; i += ITEMS) histograms[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int mine = item % COLUMNS, coarse = item / COLUMNS;  // which histogram is kept
    __local uint *kept = histograms + mine + (coarse ? FINE * COLUMNS : 0);
    for (int row = 0; row < HEIGHT - 1 && mine < REGION_X; row++)
        count(kept, buckets[row * REGION_X + mine] >> 4 * coarse, 1);
    for (int row = 0; row <= REGION_Y - HEIGHT && y0 + row < height; row++) {  // windows begin in
        int rank = WIDTH * HEIGHT / 2, counts[4];
        if (mine < REGION_X) {
            count(kept, buckets[(row + HEIGHT - 1) * REGION_X + mine] >> 4 * coarse, 1);
            if (row > 0) count(kept, buckets[(row - 1) * REGION_X + mine] >> 4 * coarse, -1);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        window_sums(histograms + (FINE + part) * COLUMNS + column, counts);
        int bucket = find(counts, &rank, totals, found, column, part);
        window_sums(histograms + (bucket * 4 + part) * COLUMNS + column, counts);
        bucket = bucket * 16 + find(counts, &rank, totals, found, column, part);
#if BITS > 8
        for (int k = 0; k < 4; k++) {
            int place = places[spread(bucket * RUN + 4 * part + k)];
            int j = place / REGION_X - row, i = place % REGION_X - column;
            counts[k] = j >= 0 && j < HEIGHT && i >= 0 && i < WIDTH;
        }
        bucket = bucket * RUN + find(counts, &rank, totals, found, column, part);
#endif
        if (part == 0 && x < width) {
#if BITS > 8
            TYPE v = pixel(in, places[spread(bucket)], left, top, channel, height, width, cval);
#else
            TYPE v = (TYPE)bucket ^ SIGN;
#endif
            out[(size_t)(y0 + row) * width + x] = ORDERED(TYPE, v);
        }
    }
}
