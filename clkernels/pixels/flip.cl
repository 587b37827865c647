// Planes mirrored: out[y, x] = in[y', x']. Planar float (plane, row, column), one work-item a value; any group size.
//
// -D ACROSS   x' = width − 1 − x, else x       down: y' = height − 1 − y, else y

__kernel void flip(__global const float *in, __global float *out, int height, int width, int down) {
    int x = get_global_id(0), y = get_global_id(1), plane = get_global_id(2);
    if (x >= width || y >= height) return;
    size_t row = (size_t)plane * height + y, from = (size_t)plane * height + (down ? height - 1 - y : y);
#ifdef ACROSS
    out[row * width + x] = in[from * width + (width - 1 - x)];
#else
    out[row * width + x] = in[from * width + x];
#endif
}
