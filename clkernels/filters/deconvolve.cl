// The steps of deconvolution, on planes of rows × columns. Any group size.

// Spectra Y of several planes, the spectrum H of one, of `rows` rows, and as many `columns` of half a spectrum. Global:
// (columns, rows, planes).

// Y ← H · Y
__kernel void deconvolve_blur(__global float2 *Y, __global const float2 *H, int rows, int columns) {
    int u = get_global_id(0), v = get_global_id(1);
    if (u >= columns || v >= rows) return;
    size_t at = (size_t)v * columns + u, i = get_global_id(2) * (size_t)columns * rows + at;
    float2 h = H[at], y = Y[i];
    Y[i] = (float2)(h.x * y.x - h.y * y.y, h.x * y.y + h.y * y.x);
}

// Y ← conj(H) · Y / (|H|² + balance · |R|²), the Wiener filter (Gonzalez & Woods, Digital Image Processing, ch. 5; with R,
// Orieux et al., J. Opt. Soc. Am. A 27, 1593, 2010). LAPLACIAN: R is the transform of 4 · x[i][j] less its four
// neighbours; else R is 1. The columns are those from `first` on of a transform of `points` in a row.
__kernel void deconvolve_wiener(__global float2 *Y, __global const float2 *H, int rows, int columns, int first,
                                int points, float balance) {
    int u = get_global_id(0), v = get_global_id(1);
    if (u >= columns || v >= rows) return;
    size_t at = (size_t)v * columns + u, i = get_global_id(2) * (size_t)columns * rows + at;
    float k = balance;
#ifdef LAPLACIAN
    float a = sinpi((float)(first + u) / (float)points), b = sinpi((float)v / (float)rows), r = 4.0f * (a * a + b * b);
    k *= r * r;
#endif
    float2 h = H[at], y = Y[i];
    Y[i] = (float2)(h.x * y.x + h.y * y.y, h.x * y.y - h.y * y.x) / (dot(h, h) + k);
}

// One step of Richardson and Lucy has two halves. The first is soft ← light / soft, where soft is more than epsilon; 0
// elsewhere. Light below 0 counts as 0.
__kernel void deconvolve_ratio(__global const float *light, __global float *soft, int width, int height, float epsilon) {
    if (get_global_id(0) >= width || get_global_id(1) >= height) return;
    size_t i = (get_global_id(2) * height + get_global_id(1)) * width + get_global_id(0);
    float y = light[i], s = soft[i];  // comparisons that let NaN through
    soft[i] = s <= epsilon ? 0.0f : (y < 0.0f ? 0.0f : y) / s;
}

// The second is estimate ← estimate · gain. Gains that rounding has made negative count as 0.
__kernel void deconvolve_gain(__global const float *gain, __global float *estimate, int width, int height) {
    if (get_global_id(0) >= width || get_global_id(1) >= height) return;
    size_t i = (get_global_id(2) * height + get_global_id(1)) * width + get_global_id(0);
    float g = gain[i];
    estimate[i] *= g < 0.0f ? 0.0f : g;
}
