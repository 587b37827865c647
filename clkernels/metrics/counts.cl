// How many values and pixels of two pictures differ, and by how much, in one reading, by the rules of OpenImageIO's
// idiff. After lanes.cl, sums.cl and worst.cl.
//
//   A value is bad if |a − b| > absolute and |a − b| / mean(|a|, |b|) > relative; a pixel is bad if a channel of it is.
//   Up to PAIRS such pairs of thresholds are counted together.
//
// A value that is NaN or infinite in one picture, and another value in the other, has an infinite error. It is left out
// of the sums and counted by itself, and its pixel is bad whatever the thresholds are. Equal ones are equal.
//
// -D CHANNELS=n   planes of both pictures
// -D MASK         only pixels where `mask` is not 0 count

#define PAIRS 4     // pairs of thresholds
#define RESULTS 32  // numbers that a group stores; some are left over

enum { TOTAL = 0, SQUARES = 2, WORST = 4, PLACE, CHANNEL, VALUE_A, VALUE_B, FINITE_WORST, COUNTS };  // where they are
enum { COMPARED = 0, DIFFERING, BAD, BAD_FOR_INFINITY = BAD + PAIRS, UNLIKE_NUMBERS = BAD_FOR_INFINITY + PAIRS,
       INFINITE_PIXELS = UNLIKE_NUMBERS + PAIRS, INFINITE_VALUES, OPPOSITE, KINDS };  // what is counted

static inline void set_lane(FLOAT *v, int k, float value) {
    union { FLOAT vector; float lanes[WIDTH]; } all;
    all.vector = *v;
    all.lanes[k] = value;
    *v = all.vector;
}

static inline void set_int_lane(INT *v, int k, int value) {
    union { INT vector; int lanes[WIDTH]; } all;
    all.vector = *v;
    all.lanes[k] = value;
    *v = all.vector;
}

// Says which of `count` neighbours count.
static inline INT taken(__global const uchar *mask, int count) {
    INT there = LANE_INDEX < (INT)count;
#ifdef MASK
    INT shown = 0;
#if WIDTH == 8
    if (count == 8) return convert_int8(vload8(0, mask)) != 0;
#endif
    for (int k = 0; k < count; k++) set_int_lane(&shown, k, mask[k]);
    there &= shown != 0;
#endif
    return there;
}

// What is known of WIDTH pixels.
typedef struct {
    FLOAT total, squares;  // Σ |a − b| and Σ (a − b)² over channels, of errors times `scale`
    FLOAT most, finite;    // the largest error, and the largest of finite values
    INT differing;         // channels that differ
} Errors;

// The pixel at i, where some value is not finite or a difference overflows; it goes into lane k.
static inline void take_odd(__global const float *a, __global const float *b, uint i, uint size, float scale,
                            const float *absolute, const float *relative, Errors *e, int k, __local uint *counts) {
    float total = 0.0f, squares = 0.0f, most = 0.0f, finite = 0.0f;
    int differing = 0, infinite = 0, unlike_number = 0, bad = 0;
    for (int c = 0; c < CHANNELS; c++) {
        float x = a[(size_t)c * size + i], y = b[(size_t)c * size + i], d = error_of(x, y);
        if (d == 0.0f) continue;
        differing++;
        most = fmax(most, d);
        if (isfinite(x) && isfinite(y)) {
            float scaled = fabs(x * scale - y * scale);
            total += scaled;
            squares = fma(scaled, scaled, squares);
            finite = fmax(finite, d);
            for (int p = 0; p < PAIRS; p++)
                if (d > absolute[p] && d / (0.5f * fabs(x) + 0.5f * fabs(y)) > relative[p]) bad |= 1 << p;
        } else {
            infinite++;
            if (isinf(x) && isinf(y)) atomic_inc(&counts[OPPOSITE]);
            unlike_number |= isinf(x) ? isfinite(y) : isinf(y) && isfinite(x);
        }
    }
    if (infinite) {
        atomic_inc(&counts[INFINITE_PIXELS]);
        atomic_add(&counts[INFINITE_VALUES], (uint)infinite);
    }
    for (int p = 0; p < PAIRS; p++) {
        if (bad & 1 << p) {
            atomic_inc(&counts[BAD + p]);
        } else if (infinite) {
            atomic_inc(&counts[BAD_FOR_INFINITY + p]);
            if (unlike_number) atomic_inc(&counts[UNLIKE_NUMBERS + p]);
        }
    }
    set_lane(&e->total, k, total);
    set_lane(&e->squares, k, squares);
    set_lane(&e->most, k, most);
    set_lane(&e->finite, k, finite);
    set_int_lane(&e->differing, k, differing);
}

// A compensated sum, as `add` of sums.cl, in each lane.
static inline void add_lanes(FLOAT *sum, FLOAT *lost, FLOAT x) {
    FLOAT s = *sum + x, t = s - *sum;
    *lost += (*sum - (s - t)) + (x - t);
    *sum = s;
}

// The group's sum of all lanes' sums, at item 0; at the others 0.
static inline float2 group_sum(FLOAT sum, FLOAT lost, __local float2 *sums) {
    float2 total = 0.0f;
    for (int k = 0; k < WIDTH; k++) total = add(total, (float2)(lane(sum, k), lane(lost, k)));
    barrier(CLK_LOCAL_MEM_FENCE);  // all have read what the last one left
    sums[get_local_id(0)] = total;
    fold_sums(sums);
    return get_local_id(0) == 0 ? sums[0] : 0.0f;
}

// Local: a power of two. A group takes `span` neighbouring pixels, and gives RESULTS numbers in `partial`.
__kernel void count_differences(__global const float *a, __global const float *b, __global const uchar *mask,
                                __global uint *partial, uint size, uint span, float scale, float4 absolute,
                                float4 relative, __local float2 *sums, __local float *worsts, __local uint *places) {
    __local uint counts[KINDS], finite_worst;
    int item = get_local_id(0), items = get_local_size(0);
    uint first = get_group_id(0) * span, end = first + min(span, size - first);
    float absolutes[PAIRS] = {absolute.x, absolute.y, absolute.z, absolute.w};
    float relatives[PAIRS] = {relative.x, relative.y, relative.z, relative.w};
    float least = fmin(fmin(absolute.x, absolute.y), fmin(absolute.z, absolute.w));
    for (int k = item; k < KINDS; k += items) counts[k] = 0;
    if (item == 0) finite_worst = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    FLOAT total = 0.0f, total_lost = 0.0f, squares = 0.0f, squares_lost = 0.0f, worst = 0.0f, finite = 0.0f;
    INT compared = 0, differing = 0, bad[PAIRS] = {0, 0, 0, 0};
    UINT place = 0;
    for (uint i = first + item * WIDTH; i < end; i += items * WIDTH) {
        int count = (int)min(end - i, (uint)WIDTH);
        INT here = taken(mask + i, count);
        compared += one_if(here);
        FLOAT x[CHANNELS], y[CHANNELS], d[CHANNELS], sum = 0.0f;
        Errors e = {0.0f, 0.0f, 0.0f, 0.0f, 0};
        for (int c = 0; c < CHANNELS; c++) {
            x[c] = load(a + (size_t)c * size + i, count);
            y[c] = load(b + (size_t)c * size + i, count);
            d[c] = fabs(x[c] - y[c]);
            sum += d[c];
        }
        if (!any_lane((sum != 0.0f) & here)) continue;
        for (int c = 0; c < CHANNELS; c++) {
            FLOAT scaled = d[c] * scale;
            e.squares = fma(scaled, scaled, e.squares);
            e.most = fmax(e.most, d[c]);
            e.differing += one_if(d[c] > 0.0f);
        }
        e.total = sum * scale;
        e.finite = e.most;
        INT odd = here & (isnan(sum) | (sum > FLT_MAX)), ordinary = here & (odd == 0);
        if (any_lane((e.most > least) & ordinary)) {
            UNROLLED
            for (int p = 0; p < PAIRS; p++) {
                INT found = 0;
                for (int c = 0; c < CHANNELS; c++)
                    found |= (d[c] > absolutes[p]) &
                             (d[c] / (0.5f * fabs(x[c]) + 0.5f * fabs(y[c])) > relatives[p]);
                bad[p] += one_if(found & ordinary);
            }
        }
        if (any_lane(odd))
            for (int k = 0; k < count; k++)
                if (int_lane(odd, k)) take_odd(a, b, i + k, size, scale, absolutes, relatives, &e, k, counts);
        add_lanes(&total, &total_lost, select((FLOAT)0.0f, e.total, here));
        add_lanes(&squares, &squares_lost, select((FLOAT)0.0f, e.squares, here));
        differing += select((INT)0, e.differing, here);
        finite = fmax(finite, select((FLOAT)0.0f, e.finite, here));
        e.most = select((FLOAT)0.0f, e.most, here);
        INT worse = e.most > worst;
        worst = select(worst, e.most, worse);
        place = select(place, (UINT)i, worse);
    }
    float largest = 0.0f, most_finite = 0.0f;
    uint where = UINT_MAX;
    for (int k = 0; k < WIDTH; k++) {
        uint at = (uint)int_lane(AS_INT(place), k) + k;
        if (goes_before(lane(worst, k), at, largest, where)) {
            largest = lane(worst, k);
            where = at;
        }
        most_finite = fmax(most_finite, lane(finite, k));
    }
    worsts[item] = largest;
    places[item] = where;
    fold_worst(worsts, places);
    atomic_max(&finite_worst, as_uint(most_finite));  // bits of floats above 0 have the order of floats
    atomic_add(&counts[COMPARED], (uint)lanes_sum(compared));
    atomic_add(&counts[DIFFERING], (uint)lanes_sum(differing));
    for (int p = 0; p < PAIRS; p++) atomic_add(&counts[BAD + p], (uint)lanes_sum(bad[p]));
    float2 group_total = group_sum(total, total_lost, sums), group_squares = group_sum(squares, squares_lost, sums);
    if (item > 0) return;
    __global uint *out = partial + RESULTS * get_group_id(0);
    vstore4((uint4)(as_uint(group_total.x), as_uint(group_total.y), as_uint(group_squares.x),
                    as_uint(group_squares.y)), 0, out);
    out[WORST] = as_uint(worsts[0]);
    out[PLACE] = places[0];
    out[FINITE_WORST] = finite_worst;
    for (int k = 0; k < KINDS; k++) out[COUNTS + k] = counts[k];
    out[CHANNEL] = out[VALUE_A] = out[VALUE_B] = 0;
    if (worsts[0] == 0.0f) return;
    for (int c = CHANNELS - 1; c >= 0; c--) {
        size_t at = (size_t)c * size + places[0];
        if (error_of(a[at], b[at]) < worsts[0]) continue;
        out[CHANNEL] = c;
        out[VALUE_A] = as_uint(a[at]);
        out[VALUE_B] = as_uint(b[at]);
    }
}
