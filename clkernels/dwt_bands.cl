// What is done to bands of coefficients, planes (planes, size): element by element, any group size.
//
// -D BAND=float|int    a coefficient

// Soft shrinking moves towards zero by the plane's threshold; hard zeroes what does not exceed it.
__kernel void shrink(__global const float *in, __global const float *thresholds, __global float *out, int planes,
                     int size, int hard) {
    const size_t i = get_global_id(0);
    const size_t plane = get_global_id(1);
    if (i >= (size_t)size || plane >= (size_t)planes) return;
    const float v = in[plane * size + i], t = thresholds[plane];
    const float soft = copysign(fmax(fabs(v) - t, 0.0f), v);
    out[plane * size + i] = hard ? (fabs(v) > t ? v : 0.0f) : soft;
}

// Partial sums of squares: sums[plane][p], p = 0…parts−1, each of `run` elements, `step` apart, from p · `apart` on: side by
// side where work-items share a fetch (GPUs), one stretch each where they do not. Global: (parts, planes).
__kernel void squares(__global const BAND *in, __global float *sums, int planes, int size, int parts, int run, int apart,
                      int step) {
    const int part = get_global_id(0);
    const size_t plane = get_global_id(1);
    if (part >= parts || plane >= (size_t)planes) return;
    float sum = 0.0f;
    size_t i = (size_t)part * apart;
    for (int k = 0; k < run && i < (size_t)size; k++, i += step) {
        const float v = (float)in[plane * size + i];
        sum = fma(v, v, sum);
    }
    sums[plane * parts + part] = sum;
}

// A band as part of a picture, at (left, top). Approximation (knee = 0): v · scale, inside [0, 1]; -D ENCODE with the
// sRGB curve. Detail: 1/2 + 1/2 v / (|v| + knee): zero is mid gray, nothing is clipped, and small coefficients stay
// visible whatever the band's range. Global: (width, height, planes).
__kernel void paint(__global const BAND *band, __global float *picture, int planes, int height, int width,
                    int picture_height, int picture_width, int top, int left, float scale, float knee) {
    const int x = get_global_id(0), y = get_global_id(1);
    const size_t plane = get_global_id(2);
    if (x >= width || y >= height || plane >= (size_t)planes) return;
    const float v = (float)band[(plane * height + y) * width + x];
    float shown = 0.5f + 0.5f * v / (fabs(v) + knee);
    if (knee == 0.0f) {
        shown = clamp(v * scale, 0.0f, 1.0f);
#ifdef ENCODE
        shown = linear_to_srgb(shown);
#endif
    }
    picture[(plane * picture_height + top + y) * picture_width + left + x] = shown;
}

// Between values in [0, 1] and whole levels 0…maximum. Global: one dimension.
__kernel void to_levels(__global const float *in, __global int *out, int size, float maximum) {
    const int i = get_global_id(0);
    if (i < size) out[i] = convert_int_rte(in[i] * maximum);
}

__kernel void from_levels(__global const int *in, __global float *out, int size, float maximum) {
    const int i = get_global_id(0);
    if (i < size) out[i] = (float)in[i] / maximum;
}
