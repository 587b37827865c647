// What is done to images and bands of coefficients, planes (planes, height, width): element by element, any group size.

// The image with `down` rows above it and `right` columns to its left, mirrored: c b | a b c d. Global: (width + right,
// height + down, planes).
static inline int mirrored(int i, int n) {
    const int period = max(2 * n - 2, 1), at = abs(i) % period;
    return min(at, period - at);
}

__kernel void extend(__global const float *in, __global float *out, int planes, int height, int width, int down,
                     int right) {
    const int x = get_global_id(0), y = get_global_id(1);
    const size_t plane = get_global_id(2);
    if (x >= width + right || y >= height + down || plane >= (size_t)planes) return;
    out[(plane * (height + down) + y) * (width + right) + x] =
        in[(plane * height + mirrored(y - down, height)) * width + mirrored(x - right, width)];
}

// The reverse: mean = weight · the image without these rows and columns, or that much more. Global: (width, height, planes).
__kernel void add_cropped(__global const float *in, __global float *mean, int planes, int height, int width, int down,
                          int right, float weight, int more) {
    const int x = get_global_id(0), y = get_global_id(1);
    const size_t plane = get_global_id(2);
    if (x >= width || y >= height || plane >= (size_t)planes) return;
    const float v = weight * in[(plane * (height + down) + y + down) * (width + right) + x + right];
    const size_t at = (plane * height + y) * width + x;
    mean[at] = more ? mean[at] + v : v;
}

// A band as part of a picture, at (left, top). Approximation (knee = 0): v · scale, inside [0, 1]; -D ENCODE with the
// sRGB curve. Detail: 1/2 + 1/2 v / (|v| + knee): zero is mid gray, nothing is clipped, and small coefficients stay
// visible whatever the band's range. Where its place is larger than the band, zeros fill it. Global: (place_width,
// place_height, planes).
__kernel void paint(__global const float *band, __global float *picture, int planes, int height, int width,
                    int place_height, int place_width, int picture_height, int picture_width, int top, int left,
                    float scale, float knee) {
    const int x = get_global_id(0), y = get_global_id(1);
    const size_t plane = get_global_id(2);
    if (x >= place_width || y >= place_height || plane >= (size_t)planes) return;
    const float v = x < width && y < height ? band[(plane * height + y) * width + x] : 0.0f;
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
__kernel void to_levels(__global const float *in, __global int *out, ulong size, float maximum) {
    const size_t i = get_global_id(0);
    if (i < size) out[i] = convert_int_rte(in[i] * maximum);
}

__kernel void from_levels(__global const int *in, __global float *out, ulong size, float maximum) {
    const size_t i = get_global_id(0);
    if (i < size) out[i] = (float)in[i] / maximum;
}

#ifdef DOUBLE
// Between single and double precision. Global: one dimension.
__kernel void widen(__global const float *in, __global double *out, ulong size) {
    const size_t i = get_global_id(0);
    if (i < size) out[i] = in[i];
}

__kernel void narrow(__global const double *in, __global float *out, ulong size) {
    const size_t i = get_global_id(0);
    if (i < size) out[i] = (float)in[i];
}
#endif
