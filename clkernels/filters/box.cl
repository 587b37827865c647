// Mean over a box: out[y, x] = scale · Σ_l Σ_k in[y + l, x + k],  l = −ry…ry, k = −rx…rx, at a cost that hardly depends
// on the radii. Nothing is ever subtracted, so neither a NaN nor the rounding of a large sample gets beyond the box.
// A line is cut into blocks. A box is the end of one block, some whole blocks, and the beginning of another; sums from
// a block's ends on take one addition each (van Herk, "A fast algorithm for local minimum and maximum filters on
// rectangular and octagonal kernels", Pattern Recognition Letters 13, 1992: here for sums). On CPUs blocks down y have
// 2·ry + 1 rows, so that no box has a whole one; along x, sums of 4^k neighbours are made of four sums of 4^(k−1) each.
// Planes are float (plane, row, column). The border is as in border.cl, with cval outside (constant).
//
// -D BORDER_x
// -D WIDE       is the kernel for CPUs: both axes in one launch
// -D LEVEL      is the kernel for local memory that is too small for the others
// -D ALONG_X    sums along x, otherwise along y (not WIDE)
// -D BLOCK=n    is the number of samples of a block, at most 2 · radius (GPUs)
// -D PER=n      is the number of blocks of a work-item (GPUs)
// -D FIRST      is the first level (LEVEL)

#ifdef LEVEL

// Makes a level of sums along one axis: next[t] = in[t] + in[t + size] + in[t + 2·size] + in[t + 3·size], where in[t]
// is the sum of `size` samples. The result gains `digit` of these sums, from in[t + done] on. `next` may be null. With
// FIRST, `in` has the n samples themselves and `out` is set; on later levels `in` has sums from −radius to n + radius.
// Global: (n + 2·radius, rows of all planes) with ALONG_X, else (inner, n + 2·radius, planes).
static inline float term(__global const float *in, int t, int n, int inner, int radius, float cval) {
#ifdef FIRST
    t = border_index(t - radius, n);
    return t < 0 ? cval : in[(size_t)t * inner];
#else
    return in[(size_t)t * inner];
#endif
}

__kernel void box_level(__global const float *in, __global float *next, __global float *out, int outer, int n, int inner,
                        int radius, int size, int done, int digit, float scale, float cval) {
#ifdef ALONG_X
    int t = get_global_id(0), o = get_global_id(1), c = 0;
#else
    int c = get_global_id(0), t = get_global_id(1), o = get_global_id(2);
#endif
    int extent = n + 2 * radius;
    if (t >= extent || o >= outer || c >= inner) return;
    size_t wide = (size_t)o * extent * inner + c;
#ifdef FIRST
    in += (size_t)o * n * inner + c;
#else
    in += wide;
#endif
    if (next && t + 4 * size <= extent)
        next[wide + (size_t)t * inner] = (term(in, t, n, inner, radius, cval) + term(in, t + size, n, inner, radius, cval)) +
                                         (term(in, t + 2 * size, n, inner, radius, cval) +
                                          term(in, t + 3 * size, n, inner, radius, cval));
    if (t >= n) return;
    out += (size_t)o * n * inner + (size_t)t * inner + c;
    float sum = 0.0f;
    for (int d = 0; d < digit; d++) sum += term(in, t + done + d * size, n, inner, radius, cval);
#ifndef FIRST
    sum += *out;
#endif
    *out = sum * scale;
}

#elif !defined(WIDE)

// Sums along one axis in blocks of BLOCK samples. The box of result p of block j consists of the block's end from its
// sample p on; of the `common` blocks and `rest` samples that all its boxes have in common; and of the p + 1 samples
// behind these. The common blocks are summed by doubling in local memory: a sum of 2^k blocks is two of 2^(k−1), and
// the binary digits of `common` say which sums to take.
// Group: (c, items, 1) for c neighbouring columns (ALONG_X: c = 1, one row) and PER · items blocks along the axis.
// Global dimension 2 counts planes (ALONG_X: dimension 0 counts rows of all planes). `from` and `to` are the first
// elements of the planes to read and write. sums: 2 · c · (PER · items + common) floats; with ALONG_X, where PER is 1,
// the samples follow, with a gap after each block.
#ifdef ALONG_X
#define SAMPLE(t) samples[(t) + (t) / BLOCK]
#else
#define SAMPLE(t) fetch(in, start - radius + (t), n, inner, cval)
#endif

// Loads a whole block before adding: memory has a long latency.
#define LOAD(t) \
    for (int k = 0; k < BLOCK; k++) v[k] = SAMPLE((t) + k)

static inline float fetch(__global const float *in, int t, int n, int inner, float cval) {
    t = border_index(t, n);
    return t < 0 ? cval : in[(size_t)t * inner];
}

__kernel void box_blocks(__global const float *restrict in, __global float *restrict out, ulong from, ulong to, int outer, int n, int inner,
                         int radius, float scale, float cval, __local float *sums) {
    int i = get_local_id(0), j = get_local_id(1), count = get_local_size(0), items = get_local_size(1);
#ifdef ALONG_X
    int o = get_global_id(0), c = 0, valid = o < outer;
    o = min(o, outer - 1);
#else
    int o = get_global_id(2), c = get_global_id(0), valid = c < inner;
    c = min(c, inner - 1);
#endif
    int tile = PER * items, start = get_group_id(1) * tile * BLOCK;
    int common = 2 * radius / BLOCK - 1, rest = 2 * radius % BLOCK, blocks = tile + common;
    in += from + (size_t)o * n * inner + c;
    out += to + (size_t)o * n * inner + c;
#ifdef ALONG_X
    __local float *samples = sums + 2 * blocks;
    for (int t = j; t < tile * BLOCK + 2 * radius; t += items) SAMPLE(t) = fetch(in, start - radius + t, n, inner, cval);
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    sums += i;
    __local float *next = sums + blocks * count;
    float v[BLOCK], result[BLOCK];
    for (int b = j; b < blocks && common > 0; b += items) {
        LOAD(b * BLOCK);
        for (int size = BLOCK / 2; size > 0; size /= 2)
            for (int k = 0; k < size; k++) v[k] += v[k + size];
        sums[b * count] = v[0];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float middle[PER];
    for (int m = 0; m < PER; m++) middle[m] = 0.0f;
    for (int size = 1, done = 1; size <= common; size *= 2) {  // sums[b]: blocks b … b + size − 1, if all exist
        if (common & size) {
            for (int m = 0; m < PER; m++) middle[m] += sums[(j + m * items + done) * count];
            done += size;
        }
        for (int b = j; b <= blocks - 2 * size; b += items) next[b * count] = sums[b * count] + sums[(b + size) * count];
        barrier(CLK_LOCAL_MEM_FENCE);
        __local float *last = sums;
        sums = next, next = last;
    }
    for (int m = 0; m < PER; m++) {
        int first = (j + m * items) * BLOCK, behind = first + 2 * radius;
        float sum = 0.0f;
        LOAD(first);
        for (int k = BLOCK - 1; k >= 0; k--) result[k] = sum += v[k];
        sum = 0.0f;
        for (int k = rest; k > 0; k--) sum += SAMPLE(behind - k);
        LOAD(behind);
        for (int k = 0; k < BLOCK; k++) result[k] = (middle[m] + (result[k] + (sum += v[k]))) * scale;
#ifndef ALONG_X
        for (int k = 0; k < BLOCK; k++)
            if (valid && start + first + k < n) out[(size_t)(start + first + k) * inner] = result[k];
#endif
    }
#ifdef ALONG_X
    barrier(CLK_LOCAL_MEM_FENCE);  // results replace the samples, so that neighbouring work-items store neighbours
    for (int k = 0; k < BLOCK; k++) SAMPLE(j * BLOCK + k) = result[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int t = j; t < tile * BLOCK; t += items)
        if (valid && start + t < n) out[start + t] = SAMPLE(t);
#endif
}

#else

#define CHUNK 64   // rows that are summed one after the other; their sums are summed again, which limits rounding
#define LEVELS 9   // levels of sums of 4^level columns: a box has less than 4^LEVELS

// This is one load; PoCL makes eight of vload16, and its compiler may go on with the pieces one by one.
typedef float16 __attribute__((aligned(4))) unaligned16;
static inline float16 load(__local const float *p) { return *(__local const unaligned16 *)p; }
static inline void store(float16 v, __local float *p) { *(__local unaligned16 *)p = v; }

// Gives sixteen samples of a row (−1: outside) from column x on.
static inline float16 fetch(__global const float *in, int row, int x, int width, float cval) {
    if (row >= 0 && x >= 0 && x + 16 <= width) return *(__global const unaligned16 *)(in + (size_t)row * width + x);
    float s[16];
#pragma unroll 1
    for (int l = 0; l < 16; l++) {
        int at = row < 0 ? -1 : border_column(x + l, width);
        s[l] = at < 0 ? cval : in[(size_t)row * width + at];
    }
    return vload16(0, s);
}

// Sums along both axes. Groups of one work-item make `columns` (a multiple of 16) × `rows` results, in blocks of 2·ry +
// 1 rows. lines: (2·ry + 3 + LEVELS) · pitch floats; pitch is a multiple of 16, at least columns + 2·rx + 16. Dimension
// 2 counts planes.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void box(__global const float *in, __global float *out, int height, int width, int radius_y, int radius_x, int columns,
         int rows, int pitch, float scale, float cval, __local float *lines) {
    int x0 = get_global_id(0) * columns, y0 = get_global_id(1) * rows, end = min(y0 + rows, height), left = x0 - radius_x;
    int count = (min(columns, width - x0) + 15) / 16 * 16, wide = (count + 2 * radius_x + 15) / 16 * 16;
    int high = 2 * radius_y + 1, across = 2 * radius_x + 1, terms[3 * LEVELS], number = 0, levels = 0;
    in += get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)height * width;
    __local float *chunk = lines, *base = lines + pitch, *levels_of = lines + 2 * pitch;
    __local float *ends = levels_of + LEVELS * pitch;
    // The box's width, as digits to the base of four, says which sums of 4^level neighbours it consists of. Level 0 is
    // the line.
    for (int size = 1, done = 0; size <= across; size *= 4, levels++)
        for (int digit = across / size % 4; digit > 0; digit--, done += size) terms[number++] = levels * pitch + done;
    for (int b = y0; b < end; b += high) {
        for (int j = high - 1; j >= 0; j--) {  // ends[j] = rows j … high − 1 of the block
            __local float *to = ends + j * pitch;
            int row = border_index(b - radius_y + j, height), first = (high - 1 - j) % CHUNK == 0;
            if (first && j < high - 1)
                for (int i = 0; i < wide; i += 16) store(load(to + pitch + i), base + i);
            for (int i = 0; i < wide; i += 16) {
                float16 sum = fetch(in, row, left + i, width, cval);
                if (high <= CHUNK) {
                    if (!first) sum += load(to + pitch + i);
                } else {
                    if (!first) sum += load(chunk + i);
                    store(sum, chunk + i);
                    if (j < high - CHUNK) sum += load(base + i);
                }
                store(sum, to + i);
            }
        }
        for (int k = 0; k < min(high, end - b); k++) {  // base + chunk = the next block's first k rows
            __local float *line = ends + k * pitch;
            int row = border_index(b + radius_y + k, height), last = k % CHUNK == CHUNK - 1;
            for (int i = 0; i < wide && k > 0; i += 16) {
                float16 sum = fetch(in, row, left + i, width, cval);
                if (k > 1 && k % CHUNK) sum += load(chunk + i);
                store(sum, chunk + i);
                if (k >= CHUNK) sum += load(base + i);
                store(load(line + i) + sum, line + i);
                if (last) store(sum, base + i);
            }
            __local float *from = line, *to = levels_of + pitch;
            for (int size = 1; 4 * size <= across; size *= 4, from = to, to += pitch)  // to[i] sums i … i + 4·size − 1
                for (int i = 0; i < wide - 3 * size; i += 16)  // (sums that read beyond the line are never used)
                    store((load(from + i) + load(from + i + size)) + (load(from + i + 2 * size) + load(from + i + 3 * size)),
                          to + i);
            __global float *result = out + (size_t)(b + k) * width + x0;
            for (int i = 0; i < count; i += 16) {
                float16 sum = 0.0f;
                for (int t = 0; t < number; t++)
                    sum += load((terms[t] < pitch ? line + terms[t] : levels_of + terms[t]) + i);
                sum *= scale;
                if (x0 + i + 16 <= width) {
                    *(__global unaligned16 *)(result + i) = sum;
                } else {
                    float s[16];
                    vstore16(sum, 0, s);
                    for (int l = 0; x0 + i + l < width; l++) result[i + l] = s[l];
                }
            }
        }
    }
}
#endif
