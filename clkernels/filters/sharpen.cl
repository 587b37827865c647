// Unsharp mask of planar images: in + amount · (in − soft) where |in − soft| > threshold, and no less than 0, or than
// in. soft is `in` blurred; the result replaces it. One work-item takes a pixel of all planes; groups may have any
// size.
//
// -D PLANES=n    is the number of planes
// -D COLOURS=n   is the number of planes before alpha, which is copied
// -D LUMINANCE   takes differences of the luminance w · (r, g, b), and multiplies colours by the luminance's gain

__kernel void sharpen(__global const float *in, __global float *soft, int width, int height, float amount, float threshold,
                      float4 w) {
    size_t n = (size_t)width * height, i = get_global_id(1) * width + get_global_id(0);
    if (get_global_id(0) >= width || get_global_id(1) >= height) return;
#ifdef LUMINANCE
    float y = w.x * in[i] + w.y * in[n + i] + w.z * in[2 * n + i];
    float d = y - (w.x * soft[i] + w.y * soft[n + i] + w.z * soft[2 * n + i]);
    float gain = fabs(d) <= threshold || y <= 0.0f ? 1.0f : fmax(1.0f + amount * (d / y), 0.0f);
    for (int c = 0; c < COLOURS; c++) soft[c * n + i] = gain * in[c * n + i];
#else
    for (int c = 0; c < COLOURS; c++) {
        float v = in[c * n + i], d = v - soft[c * n + i];
        soft[c * n + i] = fabs(d) <= threshold ? v : fmax(fma(amount, d, v), fmin(v, 0.0f));
    }
#endif
    for (int c = COLOURS; c < PLANES; c++) soft[c * n + i] = in[c * n + i];
}
