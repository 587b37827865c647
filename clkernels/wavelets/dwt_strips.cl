// A band of coefficients that lie in strips (dwt_layout.cl) → by itself, or -D BACK from there.
// Its row y is y · pitch samples from `begin` on, in the low or the high half of each strip.
// Global: (width, height, planes), any group size.

__kernel void band_of_strips(__global S *buffer, uint pitch, int4 layout, __global S *band, int height, int width,
                             ulong plane_size, uint begin, int high) {
    const int x = get_global_id(0), y = get_global_id(1);
    const size_t plane = get_global_id(2);
    if (x >= width || y >= height) return;
    const size_t row = plane * plane_size + begin + (size_t)y * pitch;
    __global S *there = buffer + row + low_place(x, layout) + (high ? half_length(x, layout) : 0);
    __global S *here = band + (plane * height + y) * width + x;
#ifdef BACK
    *there = *here;
#else
    *here = *there;
#endif
}
