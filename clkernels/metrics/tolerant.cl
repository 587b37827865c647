// Where different pixels are dense, and which pixels have no like within a radius. After lanes.cl and sums.cl.

#define RUN 64  // results that a work-item makes one after the other, from a running sum

// Sums of `n` neighbours in a row of the mask's odd values: (height, width − n + 1). A work-item makes RUN of a row:
// dimension 0 counts the runs of a row, dimension 1 rows.
__kernel void window_rows(__global const uchar *mask, __global ushort *sums, int width, int height, int n) {
    int x0 = get_global_id(0) * RUN, y = get_global_id(1), columns = width - n + 1;
    if (x0 >= columns || y >= height) return;
    __global const uchar *row = mask + (size_t)y * width;
    __global ushort *out = sums + (size_t)y * columns;
    uint sum = 0;
    for (int x = x0; x < x0 + n; x++) sum += row[x] & 1;
    for (int x = x0; x < min(x0 + RUN, columns); x++) {
        out[x] = sum;
        if (x + n < width) sum += (row[x + n] & 1) - (row[x] & 1);
    }
}

// Eight neighbours, or as many as there are.
static inline uint8 columns_at(__global const ushort *p, int columns) {
    if (columns >= 8) return convert_uint8(vload8(0, p));
    ushort v[8];
    for (int k = 0; k < 8; k++) v[k] = k < columns ? p[k] : 0;
    return convert_uint8(vload8(0, v));
}

// The largest sum of `n` neighbours in a column of what window_rows gives, and the first place that has it.
// Dimension 0 counts blocks of 8 columns, dimension 1 runs of RUN rows. partial: for each group the sum and the place.
__kernel void window_columns(__global const ushort *sums, __global uint *partial, int columns, int height, int n) {
    __local uint most, where;
    int x = get_global_id(0) * 8, y0 = get_global_id(1) * RUN, rows = height - n + 1;
    uint largest = 0, place = UINT_MAX;
    if (get_local_id(0) == 0 && get_local_id(1) == 0) {
        most = 0;
        where = UINT_MAX;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < columns && y0 < rows) {
        uint8 sum = 0, best = 0, at = 0;
        x = max(min(x, columns - 8), 0);  // the last block may have columns of the one before
        for (int y = y0; y < min(y0 + RUN, rows); y++) {
            for (int k = y == y0 ? y0 : y + n - 1; k < y + n; k++)
                sum += columns_at(sums + (size_t)k * columns + x, columns);
            if (y > y0) sum -= columns_at(sums + (size_t)(y - 1) * columns + x, columns);
            at = select(at, (uint8)y, sum > best);
            best = max(best, sum);
        }
        uint counts[8], rows_of[8];
        vstore8(best, 0, counts);
        vstore8(at, 0, rows_of);
        for (int k = 0; k < min(columns, 8); k++) {
            uint here = rows_of[k] * (uint)columns + x + k;
            if (counts[k] > largest || (counts[k] == largest && here < place)) {
                largest = counts[k];
                place = here;
            }
        }
    }
    atomic_max(&most, largest);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (largest == most) atomic_min(&where, place);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0 && get_local_id(1) == 0)
        vstore2((uint2)(most, where), get_group_id(1) * get_num_groups(0) + get_group_id(0), partial);
}

// Says whether a pixel of `image` differs by more than `tolerance`, in a channel, from each pixel of `other` within the
// radius: a square of 2 · radius + 1 pixels a side.
static inline int alone(__global const float *image, __global const float *other, int x, int y, int width, int height,
                        int channels, int radius, float tolerance) {
    size_t size = (size_t)width * height, place = (size_t)y * width + x;
    for (int v = max(y - radius, 0); v <= min(y + radius, height - 1); v++) {
        for (int u = max(x - radius, 0); u <= min(x + radius, width - 1); u++) {
            size_t at = (size_t)v * width + u;
            int like = 1;
            for (int c = 0; c < channels && like; c++)
                like = error_of(image[c * size + place], other[c * size + at]) <= tolerance;
            if (like) return 0;
        }
    }
    return 1;
}

// -D BOTH   each picture's pixels are looked for in the other; without it, only those of `a` in `b`
// -D MASK   1 is stored in `mask` for pixels that count, else 0
// A group of any size takes `span` neighbouring pixels, a multiple of WIDTH. partial: for each group the number of
// pixels that have no like. Pixels begin … stop count, and `mask` has these; the others are neighbours.
__kernel void within_radius(__global const float *a, __global const float *b, __global uint *partial,
                            __global uchar *mask, int width, int height, int channels, uint begin, uint stop,
                            uint span, int radius, float tolerance) {
    __local uint total;
    int item = get_local_id(0), items = get_local_size(0);
    uint size = (uint)width * height, first = begin + get_group_id(0) * span;
    uint end = first + min(span, stop - first);
    if (item == 0) total = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint counted = 0;
    for (uint i = first + item * WIDTH; i < end; i += items * WIDTH) {
        int count = (int)min(end - i, (uint)WIDTH);
        INT unlike = 0;
        for (int c = 0; c < channels; c++) {
            FLOAT d = load(a + (size_t)c * size + i, count) - load(b + (size_t)c * size + i, count);
            unlike |= !(fabs(d) <= tolerance);  // also of what is not finite
        }
        int any_unlike = any_lane(unlike);
        for (uint k = i; k < i + count; k++) {
            int x = k % width, y = k / width;
            int counts = any_unlike && alone(a, b, x, y, width, height, channels, radius, tolerance);
#ifdef BOTH
            if (any_unlike && !counts) counts = alone(b, a, x, y, width, height, channels, radius, tolerance);
#endif
            counted += counts;
#ifdef MASK
            mask[k - begin] = counts;
#endif
        }
    }
    atomic_add(&total, counted);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) partial[get_group_id(0)] = total;
}
