// Lists the windows of two pictures that FLIP has to look at: in each tile, the rectangle around the pixels that have a
// difference within `reach`. Elsewhere the error is 0.

#define BLOCK 16  // pixels of a block's side

// Says whether a value differs from its counterpart; NaN equals NaN.
static inline int unlike(float a, float b) {
    return a != b && (a == a || b == b);
}

// Marks the blocks of BLOCK × BLOCK pixels that differ. A work-item looks at a row of a block: global size (blocks in a
// row, height), groups of any size. `plane` is the distance of the planes, and `planes` their number.
__kernel void flip_marks(__global const float *a, __global const float *b, __global uint *marks, int width,
                         int height, ulong plane, int planes) {
    int x = get_global_id(0) * BLOCK, y = get_global_id(1), differ = 0;
    if (x >= width || y >= height) return;
    for (int c = 0; c < planes && !differ; c++) {
        size_t at = c * plane + (size_t)y * width + x;
        if (x + BLOCK <= width) {
            float16 p = vload16(0, a + at), q = vload16(0, b + at);
            differ = any((p != q) & ((p == p) | (q == q)));
        } else {
            for (int k = 0; k < width - x; k++) differ |= unlike(a[at + k], b[at + k]);
        }
    }
    int blocks = (width + BLOCK - 1) / BLOCK;
    if (differ) atomic_or(&marks[y / BLOCK * blocks + x / BLOCK], 1u);
}

// Lists the windows of tiles of `across` × `down` pixels that a marked block is near enough to: their first column and
// row, and those after the last. The first column is a multiple of `lanes`, as `across` is. A work-item looks at a tile:
// global size (tiles in a row, tiles in a column), groups of any size. count[0] is the number of windows. Their order
// may differ from run to run; nothing depends on it.
__kernel void flip_list(__global const uint *marks, __global int4 *list, __global uint *count, int width, int height,
                        int across, int down, int reach, int lanes) {
    int tx = get_global_id(0), ty = get_global_id(1), tiles = (width + across - 1) / across;
    if (tx >= tiles || ty >= (height + down - 1) / down) return;
    int blocks = (width + BLOCK - 1) / BLOCK;
    int left = max(tx * across - reach, 0) / BLOCK, right = min((tx + 1) * across + reach, width);
    int top = max(ty * down - reach, 0) / BLOCK, bottom = min((ty + 1) * down + reach, height);
    int4 window = (int4)(INT_MAX, INT_MAX, 0, 0);
    for (int by = top; by * BLOCK < bottom; by++)
        for (int bx = left; bx * BLOCK < right; bx++)
            if (marks[by * blocks + bx]) {
                int4 near = (int4)(bx, by, bx + 1, by + 1) * BLOCK + (int4)(-reach, -reach, reach, reach);
                window = (int4)(min(window.lo, near.lo), max(window.hi, near.hi));
            }
    if (window.z == 0) return;
    int2 first = (int2)(tx * across, ty * down), end = min(first + (int2)(across, down), (int2)(width, height));
    window = (int4)(max(window.lo, first), min(window.hi, end));
    window.x -= window.x % lanes;
    list[atomic_inc(count)] = window;
}
