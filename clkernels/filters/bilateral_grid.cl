// Bilateral filter of one plane on a coarse grid over (value, row, column): splat adds pixels to the grid's cells, the
// cells are blurred along all three axes, and slice reads for each pixel the mean at its own place and value.
// Source: Paris & Durand, "A fast approximation of the bilateral filter using a signal processing approach", ECCV 2006;
// Chen, Paris, Durand, "Real-time edge-aware image processing with the bilateral grid", SIGGRAPH 2007.
//
// The grid is planar (2, bins, rows, columns): the sums of weights, and of weights · z, where z = (value − lowest) ·
// per_unit is a value in bins. A cell has cell × cell pixels; the first and the last row and column lie beyond the
// image. A pixel divides its weight linearly between two bins, and slice interpolates linearly along all axes. Values
// that are not finite do not enter the grid, and stay as they are.

#define UNROLLED __attribute__((opencl_unroll_hint))

// Gives z's bin, and in `past` the fraction 0 … 1 by which z lies past it; the last bin is only reached with 1.
static inline int bin_of(float z, int bins, float *past) {
    int bin = min((int)z, bins - 2);
    *past = z - bin;
    return bin;
}

#define AT_ONCE 4  // pixels fetched before the first is added; it hides latency, and llvmpipe's loops end after 65535

// Adds `height` rows of pixels, from the picture's row `start` on. A work-item has a cell, of at most AT_ONCE · 65535
// pixels, and `depth` of its bins: so each run adds the same terms in the same order. sums: local, 2 · depth floats a
// work-item. Global: (columns, rows, ceil(bins / depth)); groups of one row.
__kernel void splat(__global const float *in, __global float *grid, int start, int height, int width, int cell, int rows,
                    int columns, int bins, int depth, float lowest, float per_unit, __local float *sums) {
    int column = get_global_id(0), row = get_global_id(1), first = get_global_id(2) * depth;
    if (column >= columns || row >= rows) return;
    int top = max((row - 1) * cell - start, 0), bottom = min(row * cell - start, height);
    if (top >= bottom) return;
    int items = get_local_size(0), other = depth * items;  // neighbours' sums lie in different banks
    sums += get_local_id(0);
    for (int k = 0; k < 2 * depth; k++) sums[k * items] = 0.0f;
    int left = max((column - 1) * cell, 0), right = min(column * cell, width);
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x += AT_ONCE) {
            float values[AT_ONCE];
            UNROLLED
            for (int k = 0; k < AT_ONCE; k++) values[k] = x + k < right ? in[(size_t)y * width + x + k] : NAN;
            UNROLLED
            for (int k = 0; k < AT_ONCE; k++) {
                float z = (values[k] - lowest) * per_unit, past;
                if (!isfinite(z)) continue;
                int bin = bin_of(z, bins, &past) - first;
                if (bin >= 0 && bin < depth) {
                    sums[bin * items] += 1.0f - past;
                    sums[bin * items + other] += (1.0f - past) * z;
                }
                if (bin >= -1 && bin < depth - 1) {
                    sums[(bin + 1) * items] += past;
                    sums[(bin + 1) * items + other] += past * z;
                }
            }
        }
    size_t plane = (size_t)rows * columns, all = bins * plane;
    grid += first * plane + (size_t)row * columns + column;
    for (int k = 0; k < min(depth, bins - first); k++) {
        grid[k * plane] += sums[k * items];
        grid[k * plane + all] += sums[k * items + other];
    }
}

// Reads for `height` rows of pixels, from the picture's row `start` on. `out` may be `in`. Global: (width, height); groups
// may have any size.
__kernel void slice(__global const float *in, __global const float *grid, __global float *out, int start, int height, int width,
                    int cell, int rows, int columns, int bins, float lowest, float per_unit) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    size_t i = (size_t)y * width + x, plane = (size_t)rows * columns, all = bins * plane;
    float value = in[i], z = (value - lowest) * per_unit;
    if (isfinite(z)) {
        // A cell's values stand at its middle. As there are cells beyond the image, each pixel lies between two.
        float v = (start + y + 0.5f) / cell + 0.5f, u = (x + 0.5f) / cell + 0.5f, past;
        int bin = bin_of(z, bins, &past), row = v, column = u;
        float down = v - row, right = u - column, weight = 0.0f, sum = 0.0f;
        grid += bin * plane + (size_t)row * columns + column;
        UNROLLED
        for (int k = 0; k < 4; k++) {
            __global const float *at = grid + (k & 1 ? columns : 0) + (k & 2 ? plane : 0);
            float w = (k & 1 ? down : 1.0f - down) * (k & 2 ? past : 1.0f - past);
            weight += w * mix(at[0], at[1], right);
            sum += w * mix(at[all], at[all + 1], right);
        }
        value = lowest + sum / weight / per_unit;
    }
    out[i] = value;
}
