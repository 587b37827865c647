// The picture of a difference, by the errors of sums.cl, which stands before this file.

// Gives |a − b| · gain, clipped to 1, for the planes that are colours; where a last plane is alpha, its difference
// shows in every colour. One work-item takes a pixel of a plane (dimension 0) and a colour (dimension 1).
__kernel void difference(__global const float *a, __global const float *b, __global float *out, int size,
                         int colours, int alpha, float gain) {
    int i = get_global_id(0), c = get_global_id(1);
    if (i >= size || c >= colours) return;
    size_t at = (size_t)c * size + i, last = (size_t)colours * size + i;
    float d = error_of(a[at], b[at]);
    if (alpha) d = fmax(d, error_of(a[last], b[last]));
    out[at] = d == 0.0f ? 0.0f : fmin(d * gain, 1.0f);
}
