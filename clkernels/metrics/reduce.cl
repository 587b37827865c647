// Statistics of an image's luminance in one reading:  Y = Σ_c weight_c · colour_c  (or the value of a single plane).
// The file stands after take_quads.cl or take_lanes.cl.
//
// Σ Y      is kept in pairs of floats (high, low) by two-sum, of Y·scale with scale = 2^−k ≤ 1 / pixels: so
//          neither precision nor range depends on the image's size.
// Σ log2 Y needs no logarithm per pixel: Y = m·2^e. The e are added as integers; the m are multiplied, and whenever
//          the product leaves [1, 2) its exponent joins the others. One log2 of the product follows at the end.
// The histogram of log2 Y has 4 bins a stop, from 2^−32 on. Sums and products of e and m alone decide the bin:
//          no library's log2 matters.
// NaN and infinities are counted and left out. Only Y ≥ 2^−126 has a logarithm.
//
// Sizes alone decide the order of additions, and only integers are added by atomics: every run gives the same bits.
// Partial tiles are exact because counts travel with the sums.
//
// -D CHANNELS=n   is the number of channels
// -D COLOURS=n    is the number of channels that are not alpha
// -D ALL          measures each channel in the same reading, and after them RGB's luminance
// -D CODES        counts the codes of each channel of 8 bits as well, in histograms behind the sets'
// -D ALONE        is for groups of a single work-item
// -D HISTOGRAM    makes the histogram
// -D CENTRE       makes a centre-weighted log mean: the image may be rows of a whole one, from whole.x on, of whole.y

#ifdef ALL
#define SETS (CHANNELS + (COLOURS == 3))  // sets of values, each of which has statistics
#else
#define SETS 1
#endif

#ifdef CODES
#define COUNTED (SETS + CHANNELS)  // histograms
#else
#define COUNTED SETS
#endif

#ifdef ALONE
#define COPIES 4  // of the histograms: neighbours are alike, and to count in one bin again has to wait for the last time
#else
#define COPIES 1
#endif

#define BINS 256           // bins of a histogram
#define BINS_PER_STOP 4    // bins from Y to 2 Y
#define LOWEST_STOP (-32)  // log2 of the lowest bin's lower end

#define FOUR 4  // vectors that are looked at together
#define PLACE_OF_FOUR(k, place) ((place) + (k) * WIDTH)
// Luminances from LEAST to MOST are ordinary: they have bins, and the product of four is in range. (Beyond 2^31 it may
// be infinite.)
#define LEAST 0x1p-30f
#define MOST 0x1p31f
typedef struct {
    long exponents;
    float sum, sum_low;              // Σ Y·scale
    float mantissas, mantissas_low;  // Σ log2 m
    float weights, weights_low;      // Σ w and Σ w·log2 Y of the centre-weighted mean
    float weighted, weighted_low;
    float minimum, maximum;
    uint finite, positive, nan, infinite, negative, padding;
} Statistics;

// The statistics that a work-item keeps while it reads; it has one lane for each of the pixels that it takes at once.
typedef struct {
    FLOAT sum, sum_low, product, minimum, maximum;
    FLOAT weights, weights_low, weighted, weighted_low;
    INT exponents, others, nan, infinite, negative;  // others: the number of values that are not positive
    int taken;                                       // the number of values in all lanes
} Lanes;

static inline void add(float *high, float *low, float x) {  // Knuth's two-sum: high + low grows by exactly x
    float s = *high + x, part = s - *high;
    *low += (*high - (s - part)) + (x - part);
    *high = s;
}

static inline void add_lanes(FLOAT *high, FLOAT *low, FLOAT x) {
    FLOAT s = *high + x, part = s - *high;
    *low += (*high - (s - part)) + (x - part);
    *high = s;
}

static inline Statistics empty_statistics(void) {
    Statistics s;
    s.exponents = 0;
    s.sum = s.sum_low = s.mantissas = s.mantissas_low = 0.0f;
    s.weights = s.weights_low = s.weighted = s.weighted_low = 0.0f;
    s.minimum = INFINITY;
    s.maximum = -INFINITY;
    s.finite = s.positive = s.nan = s.infinite = s.negative = s.padding = 0;
    return s;
}

static inline Statistics merged(Statistics a, Statistics b) {
    a.exponents += b.exponents;
    add(&a.sum, &a.sum_low, b.sum);
    a.sum_low += b.sum_low;
    add(&a.mantissas, &a.mantissas_low, b.mantissas);
    a.mantissas_low += b.mantissas_low;
    add(&a.weights, &a.weights_low, b.weights);
    a.weights_low += b.weights_low;
    add(&a.weighted, &a.weighted_low, b.weighted);
    a.weighted_low += b.weighted_low;
    a.minimum = fmin(a.minimum, b.minimum);
    a.maximum = fmax(a.maximum, b.maximum);
    a.finite += b.finite;
    a.positive += b.positive;
    a.nan += b.nan;
    a.infinite += b.infinite;
    a.negative += b.negative;
    return a;
}

// Merges the group's statistics into tree[0], for any number of work-items.
static inline void merge_group(__local Statistics *tree, int item, int items) {
    for (int n = items; n > 1; n = (n + 1) / 2) {
        int half_n = (n + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item + half_n < n) tree[item] = merged(tree[item], tree[item + half_n]);
    }
}

static inline Lanes empty_lanes(void) {
    Lanes a;
    a.sum = a.sum_low = a.weights = a.weights_low = a.weighted = a.weighted_low = 0.0f;
    a.product = 1.0f;
    a.minimum = INFINITY;
    a.maximum = -INFINITY;
    a.exponents = a.others = a.nan = a.infinite = a.negative = 0;
    a.taken = 0;
    return a;
}

static inline FLOAT luminance(const FLOAT *v, float4 weight) {
#if COLOURS == 3
    return fma((FLOAT)weight.x, v[0], fma((FLOAT)weight.y, v[1], weight.z * v[2]));
#else
    return v[0];
#endif
}

// Gives the light of FOUR times WIDTH neighbours. Beyond the image's end its last pixel is repeated.
static inline void light_of_four(__global const STORED *image, uint place, uint size, __global const float *table,
                                 float decoding, Numbers stages, FLOAT v[FOUR][CHANNELS]) {
    UNROLLED
    for (int t = 0; t < FOUR; t += VECTORS)
        light_of(take(image, min(place + t * WIDTH, size - 1), size), table, decoding, stages, v + t);
}

// The value of pixels that a set measures.
static inline FLOAT value_in(int set, const FLOAT *v, float4 weight) {
#ifdef ALL
    if (set < CHANNELS) return v[set];
#endif
    return luminance(v, weight);
}

#ifdef CENTRE
// A Gaussian about the centre of the whole image, whose sigma is a quarter of the width and of the height.
static inline FLOAT centre_weight(INT i, int width, int2 whole) {
    INT y = i / width;
    FLOAT u = (TO_FLOAT(i - y * width) + 0.5f) / (float)width - 0.5f;
    FLOAT v = (TO_FLOAT(y + whole.x) + 0.5f) / (float)whole.y - 0.5f;
    return exp(-8.0f * (u * u + v * v));
}
#endif

#ifdef CENTRE
static inline void weigh(Lanes *a, FLOAT y, INT positive, INT i, int width, int2 whole) {
    FLOAT w = select((FLOAT)0.0f, centre_weight(i, width, whole), positive);
    add_lanes(&a->weights, &a->weights_low, w);
    add_lanes(&a->weighted, &a->weighted_low, w * log2(y));
}
#endif

#ifdef HISTOGRAM
// The bin of an ordinary luminance. A parabola of the mantissa tells the four bins of an octave apart: its whole part
// is 4, 5, 6 or 7. For all 2^23 mantissas it rises exactly at the first one not below 2^0.25, 2^0.5, 2^0.75. The top
// two mantissa bits of that value, which number the four bins, follow Y's exponent.
static inline INT bin_of(FLOAT y) {
    FLOAT m = AS_FLOAT((AS_INT(y) & 0x7fffff) | 0x3f800000);
    FLOAT quarter = fma(fma(m, (FLOAT)-0x1.6f7c8ap0f, (FLOAT)0x1.05cefp3f), m, (FLOAT)-0x1.598678p1f);
    return (((AS_INT(y) & 0x7f800000) | (AS_INT(quarter) & 0x7fffff)) >> 21) - BINS_PER_STOP * (127 + LOWEST_STOP);
}

static inline void count_in_bin(int bin, int k, __local uint *histogram) {
    histogram += k % COPIES * COUNTED * BINS;
#ifdef ALONE
    histogram[bin]++;
#else
    atomic_inc(&histogram[bin]);
#endif
}

static inline void count_in_bins(INT bin, INT positive, __local uint *histogram) {
    UNROLLED
    for (int k = 0; k < WIDTH; k++)
        if (int_lane(positive, k)) count_in_bin(int_lane(bin, k), k, histogram);
}
#endif

// Multiplies the product of ordinary luminances, kept within 1 … 2, by one more factor, and adds its exponent to
// theirs.
static inline void multiply(Lanes *a, FLOAT by) {
    INT product = AS_INT(a->product * by);
    a->exponents += (product >> 23) - 127;
    a->product = AS_FLOAT((product & 0x7fffff) | 0x3f800000);
}

// Takes FOUR times WIDTH luminances if all are pixels (`inside`) and ordinary, as nearly all are: few instructions do
// then.
static inline int take_ordinary(Lanes *a, const FLOAT *y, int inside, uint place, int width, int2 whole, float scale,
                                __local uint *histogram) {
    FLOAT least = fmin(fmin(y[0], y[1]), fmin(y[2], y[3])), most = fmax(fmax(y[0], y[1]), fmax(y[2], y[3]));
    FLOAT all = (y[0] * y[1]) * (y[2] * y[3]);  // NaN if any of them is
    if (!inside || !all_lanes((least >= LEAST) & (most <= MOST) & (all <= FLT_MAX))) return 0;
    a->minimum = fmin(a->minimum, least);
    a->maximum = fmax(a->maximum, most);
    add_lanes(&a->sum, &a->sum_low, ((y[0] + y[1]) + (y[2] + y[3])) * scale);
    multiply(a, all);
    for (int k = 0; k < FOUR; k++) {
#ifdef HISTOGRAM
        count_in_bins(bin_of(y[k]), (INT)-1, histogram);
#endif
#ifdef CENTRE
        weigh(a, y[k], (INT)-1, LANE_INDEX + (int)PLACE_OF_FOUR(k, place), width, whole);
#endif
    }
    return 1;
}

// Takes WIDTH luminances. `inside` says which are pixels, and `i` is their places in the image.
static inline void take_any(Lanes *a, FLOAT y, INT inside, INT i, int width, int2 whole, float scale,
                            __local uint *histogram) {
    INT bits = AS_INT(y), exponent = bits & 0x7f800000, finite = (exponent != 0x7f800000) & inside;
    INT positive = (bits >= 0x00800000) & (bits < 0x7f800000) & inside;
    a->others += one_if(inside & !positive);
    a->nan += one_if(isnan(y) & inside);
    a->infinite += one_if(isinf(y) & inside);
    a->negative += one_if((y < 0.0f) & finite);
    add_lanes(&a->sum, &a->sum_low, select((FLOAT)0.0f, y, finite) * scale);
    a->minimum = fmin(a->minimum, select(a->minimum, y, finite));
    a->maximum = fmax(a->maximum, select(a->maximum, y, finite));
    FLOAT p = select((FLOAT)1.0f, y, positive);  // 1 leaves exponents and product unchanged
    a->exponents += (AS_INT(p) >> 23) - 127;
    multiply(a, AS_FLOAT((AS_INT(p) & 0x7fffff) | 0x3f800000));
#ifdef HISTOGRAM
    count_in_bins(clamp(bin_of(p), (INT)0, (INT)(BINS - 1)), positive, histogram);
#endif
#ifdef CENTRE
    weigh(a, p, positive, i, width, whole);
#endif
}

// Takes the first `count` of FOUR times WIDTH luminances, which are neighbours.
static inline void take_four(Lanes *a, const FLOAT *y, int count, uint place, int width, int2 whole, float scale,
                             __local uint *histogram) {
    if (take_ordinary(a, y, count == FOUR * WIDTH, place, width, whole, scale, histogram)) return;
    for (int k = 0; k < FOUR; k++) {
        INT at = LANE_INDEX + k * WIDTH;
        take_any(a, y[k], at < (INT)count, at + (int)place, width, whole, scale, histogram);
    }
}

static inline Statistics folded(Lanes a) {
    Statistics s = empty_statistics();
    s.positive = a.taken;
    for (int k = 0; k < WIDTH; k++) {
        s.exponents += int_lane(a.exponents, k);
        add(&s.sum, &s.sum_low, lane(a.sum, k));
        s.sum_low += lane(a.sum_low, k);
        add(&s.mantissas, &s.mantissas_low, log2(lane(a.product, k)));
        add(&s.weights, &s.weights_low, lane(a.weights, k));
        s.weights_low += lane(a.weights_low, k);
        add(&s.weighted, &s.weighted_low, lane(a.weighted, k));
        s.weighted_low += lane(a.weighted_low, k);
        s.minimum = fmin(s.minimum, lane(a.minimum, k));
        s.maximum = fmax(s.maximum, lane(a.maximum, k));
        s.positive -= int_lane(a.others, k);
        s.nan += int_lane(a.nan, k);
        s.infinite += int_lane(a.infinite, k);
        s.negative += int_lane(a.negative, k);
    }
    s.finite = a.taken - s.nan - s.infinite;
    return s;
}

static inline void clear_bins(__local uint *histogram, int item, int items) {
#ifdef HISTOGRAM
    for (int b = item; b < COPIES * COUNTED * BINS; b += items) histogram[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

static inline void publish_bins(__local uint *histogram, __global uint *total, int item, int items) {
#ifdef HISTOGRAM
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int b = item; b < COUNTED * BINS; b += items) {
        uint count = 0;
        for (int k = b; k < COPIES * COUNTED * BINS; k += COUNTED * BINS) count += histogram[k];
        if (count) atomic_add(&total[b], count);
    }
#endif
}

// Reads global memory directly. A group owns `span` consecutive pixels and walks over them side by side; each work-item
// adds up in registers, and local memory only joins the group's work-items at the end.
// Groups may have any size; tree[items]. partial[SETS][groups] takes the groups' statistics, histogram[COUNTED][BINS]
// the sum of all bins.
__kernel void reduce_direct(__global const STORED *restrict image, ulong offset, __global Statistics *partial,
                            __global uint *histogram, int width, int height, int2 whole, int span, float4 weight, float scale,
                            __global const float *restrict table, float decoding, Numbers stages,
                            __local Statistics *tree) {
    __local uint bins[COPIES * COUNTED * BINS];
    int item = get_local_id(0), items = get_local_size(0);
    uint size = (uint)width * height, first = (uint)get_group_id(0) * span, last = min(size, first + span);
    image += offset;
    clear_bins(bins, item, items);
    Lanes lanes[SETS];
    UNROLLED
    for (int s = 0; s < SETS; s++) lanes[s] = empty_lanes();
    uint step = items * FOUR * WIDTH;
    for (uint i = first + item * FOUR * WIDTH; i < last; i += step) {
        FLOAT v[FOUR][CHANNELS];
        light_of_four(image, i, size, table, decoding, stages, v);
        int count = (int)min(last - i, (uint)(FOUR * WIDTH));
        lanes[0].taken += count;
        UNROLLED
        for (int s = 0; s < SETS; s++) {
            FLOAT y[FOUR];
            UNROLLED
            for (int k = 0; k < FOUR; k++) y[k] = value_in(s, v[k], weight);
            take_four(&lanes[s], y, count, i, width, whole, scale, bins + s * BINS);
        }
#ifdef CODES
        for (int k = 0; k < count; k++)
            for (int c = 0; c < CHANNELS; c++)
                count_in_bin(image[(size_t)(i + k) * CHANNELS + c], k, bins + (SETS + c) * BINS);
#endif
    }
    UNROLLED
    for (int s = 0; s < SETS; s++) {
        if (s) barrier(CLK_LOCAL_MEM_FENCE);  // waits until all have read the last set's tree
        lanes[s].taken = lanes[0].taken;
        tree[item] = folded(lanes[s]);
        merge_group(tree, item, items);
        if (item == 0) partial[s * get_num_groups(0) + get_group_id(0)] = tree[0];
    }
    publish_bins(bins, histogram, item, items);
}

// The scheme of the Direct3D sample HDRToneMappingCS11: a group of 16 × 16 work-items takes a tile of as many pixels
// into local memory, adds them up there, and writes one value a tile to a one-dimensional buffer. WIDTH is 1.
#if WIDTH == 1
__kernel void reduce_tiles(__global const STORED *image, ulong offset, __global Statistics *partial,
                           __global uint *histogram, int width, int height, int2 whole, float4 weight, float scale,
                           __global const float *restrict table, float decoding, Numbers stages,
                           __local Statistics *tree) {
    __local uint bins[COPIES * COUNTED * BINS];
    int x = get_global_id(0), y = get_global_id(1);
    int item = get_local_id(1) * get_local_size(0) + get_local_id(0);
    int items = get_local_size(0) * get_local_size(1);
    size_t group = get_group_id(1) * get_num_groups(0) + get_group_id(0);
    int inside = x < width && y < height;
    size_t i = (size_t)min(y, height - 1) * width + min(x, width - 1);
    clear_bins(bins, item, items);
    STORED pixel[CHANNELS];
    float v[CHANNELS];
    fetch(image + offset, i, (size_t)width * height, pixel);
    decode(pixel, table, decoding, v);
#ifdef STAGES
    staged(v, stages);
#endif
    Lanes lanes = empty_lanes();
    take_any(&lanes, luminance(v, weight), inside, (int)i, width, whole, scale, bins);
    lanes.taken = inside;
    tree[item] = folded(lanes);
    merge_group(tree, item, items);
    if (item == 0) partial[group] = tree[0];
    publish_bins(bins, histogram, item, items);
}
#endif

// Merges each `each` (128) neighbours of the buffer's `count` into one; launches repeat until one is left. Dimension 1
// counts the sets. Along the buffer, groups may have any size.
__kernel void reduce_groups(__global const Statistics *in, __global Statistics *out, int count, int each,
                            __local Statistics *tree) {
    int item = get_local_id(0), items = get_local_size(0);
    uint first = (uint)get_group_id(0) * each, last = min(first + each, (uint)count);
    in += (size_t)get_group_id(1) * count;
    out += get_group_id(1) * get_num_groups(0);
    Statistics s = empty_statistics();
    for (uint i = first + item; i < last; i += items) s = merged(s, in[i]);
    tree[item] = s;
    merge_group(tree, item, items);
    if (item == 0) out[get_group_id(0)] = tree[0];
}
