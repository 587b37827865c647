// Lists the tiles of two pictures that FLIP has to look at: those with a difference in them, or within `reach` pixels
// of them. Elsewhere the error is 0.

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

// Lists the tiles of `across` × `down` pixels that a marked block is near enough to. A work-item decides on a tile:
// global size (tiles in a row, tiles in a column), groups of any size. count[0] is their number. Their order may differ
// from run to run; nothing depends on it.
__kernel void flip_list(__global const uint *marks, __global uint *list, __global uint *count, int width, int height,
                        int across, int down, int reach) {
    int tx = get_global_id(0), ty = get_global_id(1), tiles = (width + across - 1) / across;
    if (tx >= tiles || ty >= (height + down - 1) / down) return;
    int blocks = (width + BLOCK - 1) / BLOCK;
    int left = max(tx * across - reach, 0) / BLOCK, right = min((tx + 1) * across + reach, width);
    int top = max(ty * down - reach, 0) / BLOCK, bottom = min((ty + 1) * down + reach, height);
    uint found = 0;
    for (int by = top; by * BLOCK < bottom && !found; by++)
        for (int bx = left; bx * BLOCK < right && !found; bx++) found = marks[by * blocks + bx];
    if (found) list[atomic_inc(count)] = ty * tiles + tx;
}
