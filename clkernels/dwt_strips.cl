// A band of coefficients that lie in strips (dwt_layout.cl) → by itself, or -D BACK from there.
// Coefficients y, x of it are at row y · pitch of the buffer, which begins at the band's first row, in the low or the high half.
// Global: (width, height, planes), any group size.

__kernel void band_of_strips(__global S *buffer, uint pitch, int4 layout, __global S *band, int height, int width,
                             ulong plane_size, uint begin, int high) {
    const int x = get_global_id(0), y = get_global_id(1);
    const size_t plane = get_global_id(2);
    if (x >= width || y >= height) return;
    __global S *there = buffer + plane * plane_size + begin + (size_t)y * pitch + low_place(x, layout) + (high ? half_length(x, layout) : 0);
    __global S *here = band + (plane * height + y) * width + x;
#ifdef BACK
    *there = *here;
#else
    *here = *there;
#endif
}
