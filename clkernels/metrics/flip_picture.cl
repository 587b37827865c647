// The luminance of FLIP's reference, for automatic exposures, and colours for its error map.

// Rec. 709 luminance, at least 0; what is not finite counts as 0. A work-item takes a pixel; `plane` is the distance of
// the three planes, 0 for gray. Groups of any size.
__kernel void flip_luminance(__global const float *in, __global float *out, int size, ulong plane) {
    int i = get_global_id(0);
    if (i >= size) return;
    float v[3];
    for (int c = 0; c < 3; c++) {
        v[c] = in[c * plane + i];
        v[c] = isfinite(v[c]) ? fmax(v[c], 0.0f) : 0.0f;
    }
    out[i] = fmin(0.2126f * v[0] + 0.7152f * v[1] + 0.0722f * v[2], FLT_MAX);
}

// Errors 0 … 1 in colours of a table of 256, which round(255 · error) numbers; NaN becomes white. A work-item takes a
// pixel and a channel (dimension 1). Groups of any size.
__kernel void flip_heat(__global const float *errors, __global const float *table, __global float *out, int size) {
    int i = get_global_id(0), c = get_global_id(1);
    if (i >= size || c >= 3) return;
    float e = errors[i];
    out[(size_t)c * size + i] = isnan(e) ? 1.0f : table[3 * convert_int_rte(255.0f * fmin(fmax(e, 0.0f), 1.0f)) + c];
}
