// Even samples before odd ones, and back, within the memory where they lie, by chunks: Ikuzawa, Ino and Hagihara,
// "Reducing Memory Usage of Discrete Wavelet Transform by Overwriting the Input on a GPU", their algorithms 1 and 2.
//
//   create    along rows: of 2b samples b even ones make a chunk, then b odd ones another: E O E O E O …
//   permute   the chunks: E E E … O O O …  Of columns each row is a chunk, and nothing need be created.
//   shift     rows whose length no 2b divides: the last, shorter even chunk goes before all odd ones.
//
// Data are planes (height, width) of 32 bits, whatever they mean; the transformed rectangle is at their top left.
// `inverse` undoes it. No work-item waits for another group: each group owns what it moves.

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#if WIDTH > 1
typedef JOIN(uint, WIDTH) V;
#define LOAD(p) JOIN(vload, WIDTH)(0, p)
#define STORE(v, p) JOIN(vstore, WIDTH)(v, 0, p)
#else
typedef uint V;
#define LOAD(p) *(p)
#define STORE(v, p) *(p) = v
#endif
// Global: (items · blocks, rows, planes), local (items, 1, 1), items · EACH · WIDTH ≥ chunk: pairs in a row, of which a
// work-item takes WIDTH neighbours at once.
// The barrier, which is not in the source, is between all reads and all writes of a block.
__kernel void create(__global uint *data, int height, int width, int length, int chunk, int inverse) {
    const int block = get_group_id(0), item = get_local_id(0), items = get_local_size(0);
    const int left = min(2 * chunk, length - 2 * chunk * block), odds = left / 2, evens = left - odds;
    __global uint *line = data + (get_global_id(2) * height + get_global_id(1)) * width + (size_t)2 * chunk * block;
    uint even[EACH * WIDTH], odd[EACH * WIDTH];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int p = (item + e * items) * WIDTH;
#if WIDTH > 1
        if (p + WIDTH <= odds) {
            const V a = LOAD(line + (inverse ? p : 2 * p)), b = LOAD(line + (inverse ? evens + p : 2 * p + WIDTH));
            STORE(inverse ? a : (V)(a.even, b.even), even + e * WIDTH);
            STORE(inverse ? b : (V)(a.odd, b.odd), odd + e * WIDTH);
            continue;
        }
#endif
        for (int i = 0; i < WIDTH; i++) {
            if (p + i < evens) even[e * WIDTH + i] = line[inverse ? p + i : 2 * (p + i)];
            if (p + i < odds) odd[e * WIDTH + i] = line[inverse ? evens + p + i : 2 * (p + i) + 1];
        }
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int p = (item + e * items) * WIDTH;
#if WIDTH > 1
        if (p + WIDTH <= odds) {
            V a = LOAD(even + e * WIDTH), b = LOAD(odd + e * WIDTH);
            if (inverse) {
                const V x = a, y = b;
                a.even = x.lo;
                a.odd = y.lo;
                b.even = x.hi;
                b.odd = y.hi;
            }
            STORE(a, line + (inverse ? 2 * p : p));
            STORE(b, line + (inverse ? 2 * p + WIDTH : evens + p));
            continue;
        }
#endif
        for (int i = 0; i < WIDTH; i++) {
            if (p + i < evens) line[inverse ? 2 * (p + i) : p + i] = even[e * WIDTH + i];
            if (p + i < odds) line[inverse ? 2 * (p + i) + 1 : evens + p + i] = odd[e * WIDTH + i];
        }
    }
}

// The pieces lie in constant memory, as the source has it, or in global memory.
#ifdef CONSTANT
#define TABLE __constant
#else
#define TABLE __global
#endif

#define BATCH 4  // loads that a work-item has on their way at a time

// The chunk that comes to i: 2i, modulo n − 1 of an even and n of an odd number n of chunks.
static inline int source_of(int i, int modulus, int inverse) {
    if (inverse) return i & 1 ? (i + modulus) / 2 : i / 2;
    return 2 * i < modulus ? 2 * i : 2 * i - modulus;
}

// Of 2^bits chunks that is a rotation of i's bits, and a cycle's first the least of all its rotations.
static inline bool leads(int i, int bits) {
    int r = i;
    for (int k = 1; k < bits; k++) {
        r = r >> 1 | (r & 1) << (bits - 1);
        if (r < i) return false;
    }
    return i > 0 && i < (1 << bits) - 1;
}

// Cycles of chunks, each cut into pieces; a piece is (its first chunk, the number in this group of the piece that comes
// behind), or (−1, 0) for none, and all pieces of a cycle belong to one group, which saves their first chunks before
// any is overwritten. With bits > 0 there is no table: each chunk of 2^bits is asked whether it leads a cycle.
// Chunk c of a line is `lanes` values from c · stride on; a work-item moves WIDTH of them, from `first` on. Lines are
// `rows` of each plane, `width` apart.
// Global: (lanes, pieces, lines). saved: one V for each work-item.
__kernel void permute(__global uint *data, TABLE const int2 *pieces, int count, int bits, int modulus, int inverse,
                      int lines, int rows, int height, int width, int stride, int first, int lanes, __local V *saved) {
    const int lane = first + get_global_id(0) * WIDTH, slot = get_global_id(1), line = get_global_id(2);
    const int columns = get_local_size(0), column = get_local_id(0), here = get_local_id(1);
    __global uint *chunks = data + ((size_t)(line / rows) * height + line % rows) * width + lane;
    int2 piece = (int2)(-1, 0);
    if (slot < count && lane < lanes && line < lines) {
        piece = bits ? (int2)(leads(slot, bits) ? slot : -1, here) : pieces[slot];
        if (piece.x >= 0) saved[here * columns + column] = LOAD(chunks + (size_t)piece.x * stride);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (piece.x < 0) return;
    const int end = bits ? piece.x : pieces[slot - here + piece.y].x;
    int to = piece.x;
    for (bool going = true; going;) {
        V v[BATCH];
        int target[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            const int from = source_of(to, modulus, inverse);
            target[k] = to;
            going = going && from != end;
            if (going) {
                v[k] = LOAD(chunks + (size_t)from * stride);
                to = from;
            } else {
                target[k] = -1;
            }
        }
#pragma unroll
        for (int k = 0; k < BATCH; k++)
            if (target[k] >= 0) STORE(v[k], chunks + (size_t)target[k] * stride);
    }
    STORE(saved[piece.y * columns + column], chunks + (size_t)to * stride);
}

// Columns start … start + count − 1 move `by` to the right, and the `by` behind them to their left; the inverse back.
// Global: (items, rows, planes), one group a line, items · EACH ≥ by. What is read in a round is not yet overwritten:
// a round writes where it has read, and where rounds before it have.
__kernel void shift(__global uint *data, int height, int width, int start, int count, int by, int inverse) {
    const int item = get_local_id(0), items = get_local_size(0);
    __global uint *line = data + (get_global_id(2) * height + get_global_id(1)) * width + start;
    __global uint *near = inverse ? line : line + count, *far = inverse ? line + count : line;
    uint few[EACH];
    for (int e = 0; e < EACH; e++)
        if (item + e * items < by) few[e] = near[item + e * items];
    const int from = inverse ? by : 0, to = inverse ? 0 : by;
    for (int done = 0; done < count; done += BATCH * items) {
        uint v[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const int k = done + b * items + item;
            if (k < count) v[b] = line[from + (inverse ? k : count - 1 - k)];
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const int k = done + b * items + item;
            if (k < count) line[to + (inverse ? k : count - 1 - k)] = v[b];
        }
    }
    for (int e = 0; e < EACH; e++)
        if (item + e * items < by) far[item + e * items] = few[e];
}
