// Smaller planes for structural similarity on coarser scales, and the luma of an RGB image. The file stands after
// lanes.cl and reflected.cl.

// Result (y, x) is the mean of `factor` × `factor` samples, of which (factor·y, factor·x) is the middle one, or the one
// before the middle. Beyond the edges images are mirrored, dcba|abcd|dcba. This is what Wang's programs compute by
// imfilter(…, 'symmetric') and (1:factor:end). Global: (columns, rows, planes).
__kernel void shrink(__global const float *in, __global float *out, int height, int width, int rows, int columns,
                     int factor) {
    int x = get_global_id(0), y = get_global_id(1), before = (factor - 1) / 2;
    if (x >= columns || y >= rows) return;
    in += (size_t)get_global_id(2) * height * width;
    float sum = 0.0f;
    for (int j = 0; j < factor; j++) {
        __global const float *row = in + (size_t)reflected(factor * y - before + j, height) * width;
        float along = 0.0f;
        for (int i = 0; i < factor; i++) along += row[reflected(factor * x - before + i, width)];
        sum += along;
    }
    out[((size_t)get_global_id(2) * rows + y) * columns + x] = sum / (float)(factor * factor);
}

// The same for a factor of 2: means of 2 × 2 samples, where edges are repeated. A work-item makes WIDTH neighbours.
// Global: (columns / WIDTH, rows, planes).
__kernel void halve(__global const float *in, __global float *out, int height, int width, int rows, int columns) {
    int x = get_global_id(0) * WIDTH, y = get_global_id(1);
    if (x >= columns || y >= rows) return;
    __global const float *upper = in + ((size_t)get_global_id(2) * height + 2 * y) * width + 2 * x;
    __global const float *lower = 2 * y + 1 < height ? upper + width : upper;
    int first = width - 2 * x, second = first - WIDTH;  // samples that exist
    int next = WIDTH == 1 && second < 1 ? 0 : WIDTH;
    FLOAT left = load(upper, first) + load(lower, first);
    FLOAT right = load(upper + next, second) + load(lower + next, second);
    store(0.25f * in_pairs(left, right), out + ((size_t)get_global_id(2) * rows + y) * columns + x, columns - x);
}

// out = 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601), of planes of `size` values.
__kernel void luma(__global const float *in, __global float *out, int size) {
    int i = get_global_id(0);
    if (i < size) out[i] = fma(0.299f, in[i], fma(0.587f, in[(size_t)size + i], 0.114f * in[2 * (size_t)size + i]));
}
