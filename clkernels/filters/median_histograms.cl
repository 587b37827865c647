// The median of a window of HEIGHT × WIDTH pixels, exactly, for windows too large for straight-line code on GPUs. A
// group takes a region of REGION_X × REGION_Y pixels, border included, and gives ACROSS columns of results.
// Every column has a histogram of the window's HEIGHT rows, of 256 buckets in bytes, and a coarse one of 16 buckets.
// They add a row and remove one as the window moves down. A window's histogram is the sum of WIDTH columns'. The 16
// coarse counts are summed first, and then only the 16 fine counts of the coarse bucket with the median; so a pixel's
// work is linear in WIDTH. Pixels of eight bits are their own buckets. Others are sorted in the region first: a bucket
// is 16 consecutive pixels in that order, and in the end those of the median's bucket are looked at one by one.
// Source: T. S. Huang et al., "A fast two-dimensional median filtering algorithm", IEEE Trans. ASSP 27, 1979;
// histograms of columns, of two levels: S. Perreault, P. Hébert, "Median filtering in constant time", IEEE Trans. Image
// Process. 16, 2007. Sorting by merges that the work-items share: S. Odeh et al., "Merge path", IPDPSW 2012.
// Planes consist of rows of pixels, as in median_pixels.cl.
//
// -D BITS=8|16|32          is the size of a pixel's value
// -D HEIGHT=n -D WIDTH=n   are the window's size, both odd
// -D REGION_Y=n            is the region's height; REGION_X · REGION_Y is REGION at most
// Group: (ACROSS, PARTS). Dimension 2 counts planes · channels. `histograms` has the bytes of the histograms, of
// 4 · (ITEMS + ACROSS), of REGION, and of 2 · REGION more where pixels are sorted. It is an argument because
// work-groups on PoCL 3.1 may share what a kernel declares.

#define ACROSS 32  // results of a row in a group; PARTS work-items make each
#define PARTS 4    // work-items that share a histogram's 16 counts
#define ITEMS (ACROSS * PARTS)         // work-items of a group
#define REGION_X (ACROSS + WIDTH - 1)  // columns of a region
#define REGION 4096                    // pixels of a region, at most
#define UNROLLED __attribute__((opencl_unroll_hint))

// Histograms consist of words of four counts. Word w of column c is at w · COLUMNS + c, so neighbours use different
// banks.
#define COLUMNS 64              // columns that have histograms
#define FINE 64                 // words of a fine histogram
#define COARSE 4                // words of a coarse histogram
#define AT_ONCE (255 / HEIGHT)  // columns whose counts' sums still fit a byte

#define SIGN (TYPE)((TYPE)-1 < 0 ? 1u << (BITS - 1) : 0)  // flipping this bit puts signed keys into unsigned order

static inline TYPE pixel(__global const TYPE *in, int place, int x0, int y0, int channel, int height, int width, TYPE cval) {
    int y = border_index(y0 + place / REGION_X, height), x = (x0 + place % REGION_X) * CHANNELS + channel;
    TYPE v = y < 0 ? cval : element(in + (size_t)y * width, x, width, cval);
    return KEY(TYPE, v);
}

#if BITS > 8

// A value to sort is a pixel's key followed by its place in the region, so that all values differ.
#define PLACE 12  // bits of a place
#if BITS == 16
typedef uint V;
#define KEYS ushort
#else
typedef ulong V;
#define KEYS uint
#endif
#define RUN 16  // pixels of a bucket, and of the part of a merge that a work-item makes at a time
#define RUNS (REGION / RUN / ITEMS)  // runs of a work-item

// sort_values, by gpuops/filters/median_merges.py, sorts a run.
#define SORT_ARGUMENTS V *values
#define UNSORTED(k) values[k]
#define SORTED(k) values[k]
static inline void sort_values(SORT_ARGUMENTS);

// Permutes ranks so that sixteenths of a sorted list, which all work-items access at once, lie in different banks.
static inline int spread(int rank) { return rank ^ (rank >> 5 & 15); }

static inline V keyed(const __local KEYS *keys, const __local ushort *places, int rank) {
    rank = spread(rank);
    return (V)keys[rank] << PLACE | places[rank];
}

// Gives RUN values from rank `first` on of the merged pairs of lists; lists have `length` values, pairs 2 · length.
static inline void merge(const __local KEYS *keys, const __local ushort *places, int first, int length, V *run) {
    int a = first & -2 * length, b = a + length, end_a = b, end_b = b + length, before = first - a;
    int least = max(0, before - length), most = min(before, length);  // of those before `first`, from list a
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

// Sorts a region: `places` in the order of their keys, and for each place its bucket.
static inline void sort(__global const TYPE *in, __local KEYS *keys, __local ushort *places, __local uchar *buckets, int item,
                        int x0, int y0, int channel, int height, int width, TYPE cval) {
    V runs[RUNS][RUN];
    UNROLLED
    for (int n = 0; n < RUNS; n++) {
        UNROLLED
        for (int k = 0; k < RUN; k++) {
            int place = (n * RUN + k) * ITEMS + item;
            KEYS key = -1;  // places beyond the region are in no window
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

// Sums words of four counts over WIDTH columns.
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

// Finds the one of 16 counts, four in each part, that contains the value of a rank. The rank becomes the rank within
// it.
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
    int mine = item % COLUMNS, coarse = item / COLUMNS;  // the histogram that this work-item keeps
    __local uint *kept = histograms + mine + (coarse ? FINE * COLUMNS : 0);
    for (int row = 0; row < HEIGHT - 1 && mine < REGION_X; row++)
        count(kept, buckets[row * REGION_X + mine] >> 4 * coarse, 1);
    for (int row = 0; row <= REGION_Y - HEIGHT && y0 + row < height; row++) {  // `row` is the first one of the windows
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
