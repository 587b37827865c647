// What goes around the transform of an image: window, filter, shift, view. One work-item for each element.
// Layout: planes of rows × columns; complex elements are interleaved. Global: the elements, 1-D; any group size.
// -D REAL=float|double   -D STORED_HALF: complex elements are two half floats   After lanes.cl.

typedef REAL real;
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
typedef GLUE(REAL, 2) real2;
#ifdef STORED_HALF
typedef uint stored;
#else
typedef real2 stored;
#endif

// `in` times the window y[row] · x[column], or divided by it where it is at least `least`, else 0 (DIVIDE).
__kernel void spectrum_window(__global const real *in, __global const float *y, __global const float *x,
                              __global real *out, int planes, int rows, int columns, float least) {
    size_t id = get_global_id(0);
    int column = id % columns, row = id / columns % rows, plane = id / columns / rows;
    if (plane >= planes) return;
    float w = y[row] * x[column];
#ifdef DIVIDE
    out[id] = w >= least ? in[id] / w : 0;
#else
    out[id] = in[id] * w;
#endif
}

// L(r) of the lowpass with cutoff c: see gpuops/params/fft.py. shape: 0 gaussian, 1 Butterworth, 2 ideal.
static inline float lowpass(float r, float c, int shape, int order) {
    float q = r / c;
    if (shape == 0) return exp2(-q * q);
    if (shape == 1) return 1.0f / (1.0f + pown(q, 2 * order));
    return q <= 1.000001f ? 1.0f : 0.0f;  // a frequency on the cutoff is inside, whatever rounding made of it
}

static inline float frequency(int k, int n) {  // cycles per pixel, −0.5 … 0.5
    return (float)(2 * k > n ? k - n : k) / (float)n;
}

// The distance of a frequency from a place: the spectrum of pixels goes around after one cycle per pixel.
static inline float apart(float fx, float fy, float x, float y) {
    return hypot(fx - x - rint(fx - x), fy - y - rint(fy - y));
}

// Spectrum times a filter. kind: 0 low, 1 high, 2 band, 3 all but a band, 4 all but `count` notches, each of x, y and
// radius, and their mirror images. n: lengths of the transform (rows, columns); `columns` of the latter are there, from
// `first` on.
__kernel void spectrum_filter(__global stored *values, int planes, int columns, int first, int2 n,
                              int kind, int shape, int order, float low, float high, __global const float *notches,
                              int count) {
    size_t id = get_global_id(0);
    int column = id % columns, row = id / columns % n.x, plane = id / columns / n.x;
    if (plane >= planes) return;
    float fy = frequency(row, n.x), fx = frequency(first + column, n.y), r = hypot(fx, fy), h = 1.0f;
    if (kind == 0) h = lowpass(r, high, shape, order);
    else if (kind == 1) h = 1.0f - lowpass(r, low, shape, order);
    else if (kind < 4) {
        h = lowpass(r, high, shape, order) * (1.0f - lowpass(r, low, shape, order));
        if (kind == 3) h = 1.0f - h;
    }
    for (int i = 0; i < count; i++) {
        float x = notches[3 * i], y = notches[3 * i + 1], radius = notches[3 * i + 2];
        h *= (1.0f - lowpass(apart(fx, fy, x, y), radius, shape, order)) *
             (1.0f - lowpass(apart(fx, fy, -x, -y), radius, shape, order));
    }
#ifdef STORED_HALF
    vstore_half2(vload_half2(id, (__global const half *)values) * h, id, (__global half *)values);
#else
    values[id] *= h;
#endif
}

// Spectrum times real factors, rows × columns, the same for all planes. The spectrum's rows have `columns` of them, from
// `first` on of `all`.
__kernel void spectrum_mask(__global stored *values, __global const float *factors, int planes, int rows, int columns,
                            int first, int all) {
    size_t id = get_global_id(0);
    int column = id % columns, row = id / columns % rows, plane = id / columns / rows;
    if (plane >= planes) return;
    float factor = factors[(size_t)row * all + first + column];
#ifdef STORED_HALF
    vstore_half2(vload_half2(id, (__global const half *)values) * factor, id, (__global half *)values);
#else
    values[id] *= factor;
#endif
}

// Adds an offset to `count` values of each of several planes; colours that are multiplied by alpha, the plane behind
// them, get the offset times alpha.
__kernel void spectrum_offset(__global float *image, int planes, ulong count, float offset) {
    size_t id = get_global_id(0);
    if (id >= count * planes) return;
#ifdef ALPHA
    offset *= image[count * planes + id % count];
#endif
    image[id] += offset;
}

// out[(row + dy) mod rows][(column + dx) mod columns] = in[row][column]
__kernel void spectrum_shift(__global const stored *in, __global stored *out, int planes, int rows, int columns, int dy,
                             int dx) {
    size_t id = get_global_id(0);
    int column = id % columns, row = id / columns % rows, plane = id / columns / rows;
    if (plane >= planes) return;
    out[((size_t)plane * rows + (row + dy) % rows) * columns + (column + dx) % columns] = in[id];
}

// A view of elements wherever they lie. Global: the elements / WIDTH.
// view: 0 ln |X|, 1 |X|, 2 phase, 3 |X|², 4 real, 5 imaginary part
__kernel void spectrum_view(__global const real2 *in, __global float *out, int count, int view) {
    int i = get_global_id(0) * WIDTH;
    if (i >= count) return;
    in += i;
    int here = min(WIDTH, count - i);
#if WIDTH == 1
    FLOAT re = in->x, im = in->y;
#else
    real pairs[2 * WIDTH];
    for (int k = 0; k < WIDTH; k++) vstore2(in[min(k, here - 1)], k, pairs);
    GLUE(REAL, 16) all = vload16(0, pairs);
    FLOAT re = TO_FLOAT(all.even), im = TO_FLOAT(all.odd);
#endif
    // √(re² + im²) without leaving float's range; hypot would be many times slower on CPUs
    FLOAT a = fabs(re), b = fabs(im), larger = max(a, b), ratio = min(a, b) / larger;
    FLOAT m = select((FLOAT)0.0f, larger * sqrt(1.0f + ratio * ratio), larger > (FLOAT)0.0f);
    FLOAT v = view == 0   ? log(max(m, (FLOAT)1e-30f))
              : view == 1 ? m
              : view == 2 ? select((FLOAT)0.0f, atan2(im, re), m > (FLOAT)0.0f)
              : view == 3 ? m * m
              : view == 4 ? re
                          : im;
    store(v, out + i, here);
}

// Half a view → all of it, rows × columns, with frequency 0 at (dy, dx): v, or its shade (v − low) · gain within 0 … 1.
// The other half is X[−k] = conj X[k]: the same, or its negative (odd). Global: (columns, rows, planes).
__kernel void spectrum_levels(__global const float *half_view, __global float *out, int rows, int columns, int dy,
                              int dx, int odd, int shaded, float low, float gain) {
    int column = get_global_id(0), row = get_global_id(1), kept = columns / 2 + 1;
    if (column >= columns || row >= rows) return;
    size_t above = (size_t)get_global_id(2) * rows;
    int y = row < dy ? row - dy + rows : row - dy, x = column < dx ? column - dx + columns : column - dx;
    bool other = x >= kept;
    if (other) y = y ? rows - y : 0, x = columns - x;
    float v = half_view[(above + y) * kept + x];
    if (other && odd) v = -v;
    out[(above + row) * columns + column] = shaded ? clamp((v - low) * gain, 0.0f, 1.0f) : v;
}
