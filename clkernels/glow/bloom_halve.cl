// One or two steps of bloom's mip chain on its way down, as in bloom_down.cl, for planes that are not large. For these,
// memory latency takes longer than the sums, and a tile fetches all that it needs at once. Beyond the edges images are
// mirrored, dcba|abcd|dcba, at every level.
//
// The file stands after reflected.cl and bloom_step.cl. Group: (ITEMS, 1, 1), at least COLUMNS, for a tile of TILE_ROWS
// × TILE_COLUMNS of the last level, and the part of the level between from which it comes. Dimension 2 counts planes.
//
// -D ITEMS=n      is the number of work-items of a group
// -D LEVELS=1|2   is the number of steps
// -D TILE_ROWS=n -D TILE_COLUMNS=n   are the tile's size
// -D EVEN         says that rows have an even number of samples

#if LEVELS == 2
#define ROWS (2 * TILE_ROWS + 4)  // rows after one step, with those that surround the tile's
#define COLUMNS (2 * TILE_COLUMNS + 4)
#else
#define ROWS TILE_ROWS
#define COLUMNS TILE_COLUMNS
#endif
#define FINE_ROWS (2 * ROWS + 4)  // rows of the first level that a tile reads
#define STEP (ITEMS / COLUMNS)    // rows that are summed at a time: a work-item keeps to a column
#define UNROLLED __attribute__((opencl_unroll_hint))

// Joins six rows of sums along rows.
static inline float joined_at(__local const float2 *sums, int pitch) {
    float2 rows[6];
    for (int k = 0; k < 6; k++) rows[k] = sums[k * pitch];
    return joined(rows);
}

// Fetches the six samples about 2x and 2x + 1; `at` points to the sample 2x.
static inline void fetch_six(__global const float *at, float *v) {
#ifdef EVEN
    __global const float2 *pairs = (__global const float2 *)at;
    UNROLLED
    for (int k = 0; k < 3; k++) {
        float2 pair = pairs[k - 1];
        v[2 * k] = pair.x, v[2 * k + 1] = pair.y;
    }
#else
    UNROLLED
    for (int k = 0; k < 6; k++) v[k] = at[k - 2];
#endif
}

// Fetches the same near the ends of a row of n samples.
static inline void fetch_near_ends(__global const float *row, int x, int n, float *v) {
    UNROLLED
    for (int k = 0; k < 6; k++) v[k] = row[column_of(2 * x - 2 + k, n)];
}

// between: the first step's result; last: the second step's. With LEVELS 1, `last` is not used.
__kernel void halve(__global const float *restrict fine, __global float *restrict between, __global float *restrict last,
                    int height, int width) {
    __local float2 sums[FINE_ROWS * COLUMNS];  // sums along the rows
    int item = get_local_id(0), row = item / COLUMNS, column = item % COLUMNS;
    int rows = (height + 1) / 2, columns = (width + 1) / 2;
    int last_rows = (rows + 1) / 2, last_columns = (columns + 1) / 2;
    int tile_y = get_group_id(1) * TILE_ROWS, tile_x = get_group_id(0) * TILE_COLUMNS;
#if LEVELS == 2
    __local float middle[ROWS * COLUMNS];
    int top = 2 * tile_y - 2, left = 2 * tile_x - 2;  // the first row and column of `middle`
#else
    int top = tile_y, left = tile_x;
#endif
    fine += get_group_id(2) * (size_t)height * width;
    between += get_group_id(2) * (size_t)rows * columns;

    if (row < STEP) {
        // Beyond the edges, the level between repeats its own samples, mirrored.
        int x = column_of(left + column, columns), inner = x > 0 && 2 * x + 3 < width;
        if (inner) {
            float v[(FINE_ROWS + STEP - 1) / STEP][6];  // all fetches are under way at once
            UNROLLED
            for (int n = 0; n * STEP < FINE_ROWS; n++)
                fetch_six(fine + (uint)reflected(2 * top - 2 + row + n * STEP, height) * (uint)width + 2 * x, v[n]);
            UNROLLED
            for (int n = 0; n * STEP < FINE_ROWS; n++)
                if (row + n * STEP < FINE_ROWS) sums[item + n * STEP * COLUMNS] = edges_and_middle(v[n]);
        } else {
            for (int k = row; k < FINE_ROWS; k += STEP) {
                float v[6];
                fetch_near_ends(fine + (uint)reflected(2 * top - 2 + k, height) * (uint)width, x, width, v);
                sums[k * COLUMNS + column] = edges_and_middle(v);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (row < STEP) {
        int x = left + column;
        for (int k = row; k < ROWS; k += STEP) {
            int y = top + k, own = clamp(reflected(y, rows) - top, 0, ROWS - 1);  // rows far outside are not used
            float v = joined_at(sums + 2 * own * COLUMNS + column, COLUMNS);
#if LEVELS == 2
            middle[k * COLUMNS + column] = v;
            int inside = k >= 2 && k < ROWS - 2 && column >= 2 && column < COLUMNS - 2;
#else
            int inside = 1;
#endif
            if (inside && y < rows && x < columns) between[(uint)y * (uint)columns + x] = v;
        }
    }
#if LEVELS == 2
    last += get_group_id(2) * (size_t)last_rows * last_columns;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = item; k < ROWS * TILE_COLUMNS; k += ITEMS) {
        __local const float *m = middle + k / TILE_COLUMNS * COLUMNS + k % TILE_COLUMNS * 2;
        float v[6];
        for (int n = 0; n < 6; n++) v[n] = m[n];
        sums[k] = edges_and_middle(v);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = item; k < TILE_ROWS * TILE_COLUMNS; k += ITEMS) {
        int y = tile_y + k / TILE_COLUMNS, x = tile_x + k % TILE_COLUMNS;
        float v = joined_at(sums + k / TILE_COLUMNS * 2 * TILE_COLUMNS + k % TILE_COLUMNS, TILE_COLUMNS);
        if (y < last_rows && x < last_columns) last[(uint)y * (uint)last_columns + x] = v;
    }
#endif
}
