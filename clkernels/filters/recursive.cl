// A Gaussian as a recursive filter, down columns:  out[y] = h₀ · in[y] + Σ_{n ≥ 1} h(n) · (in[y − n] + in[y + n]),
// h(n) = Re Σ_i c_i · p_i^(n − 1). Each of the TERMS complex exponentials has a state z ← p·z + in, which runs once
// downwards and once upwards; the cost does not depend on σ. Source: Deriche, "Recursively implementing the Gaussian
// and its derivatives", INRIA 1893, 1993. His recursions of fourth order are split into ones of first order, which are
// stable in float. A state is as large as the sum of its inputs, and p is near 1. So the kernel gets q = 1 − p,
// computes z − q·z + in, and adds in the next step what the sum lost by rounding (Kahan, "Further remarks on reducing
// truncation errors", CACM 8, 1965). A NaN or an infinity stays in the states up to the end of the line.
// Planes are float (plane, row, column). A work-item has a band of rows of VECTORS vectors of columns. Before a band,
// `warm` rows (a multiple of ROWS) fill the states, across edges as in border.cl, with cval outside (constant).
//
// -D BORDER_x
// -D TERMS=n     is the number of exponentials
// -D ROWS=n      is the number of rows that are fetched at a time
// -D VECTORS=n   is the number of vectors of 16 columns, on CPUs; without it neighbouring work-items have neighbouring
//                columns

#define UNROLLED __attribute__((opencl_unroll_hint))

#ifdef VECTORS
#define LANES 16
typedef float16 lanes;

static inline lanes load(__global const float *p, int count) {  // the first `count` columns exist
    if (count >= LANES) return vload16(0, p);
    float s[LANES];
    for (int i = 0; i < LANES; i++) s[i] = p[min(i, count - 1)];
    return vload16(0, s);
}

static inline void store(lanes v, __global float *p, int count) {
    if (count >= LANES) {
        vstore16(v, 0, p);
    } else {
        float s[LANES];
        vstore16(v, 0, s);
        for (int i = 0; i < count; i++) p[i] = s[i];
    }
}
#else
#define VECTORS 1
#define LANES 1
typedef float lanes;

static inline lanes load(__global const float *p, int count) { return *p; }
static inline void store(lanes v, __global float *p, int count) { *p = v; }
#endif

typedef struct {
    lanes re, im, re_rest, im_rest;
} State;

// Gives sum + term; `rest` carries the rounding error to the next addition.
static inline lanes add(lanes sum, lanes term, lanes *rest) {
    lanes all = term + *rest, next = sum + all;
    *rest = all - (next - sum);
    return next;
}

// terms: (q, c), two complex numbers, for each exponential. Global: (ceil(width / (LANES · VECTORS)), ceil(height /
// band), planes).
__kernel void recursive(__global const float *in, __global float *out, __constant float4 *terms, int height, int width, int warm,
                        int band, float centre, float cval) {
    int x0 = get_global_id(0) * LANES * VECTORS, y0 = get_global_id(1) * band, count = min(band, height - y0);
    if (x0 >= width) return;
    in += get_global_id(2) * (size_t)height * width;
    out += get_global_id(2) * (size_t)height * width;
    for (int upwards = 0; upwards < 2; upwards++) {
        State states[VECTORS][TERMS];
        for (int v = 0; v < VECTORS; v++)
            UNROLLED
            for (int k = 0; k < TERMS; k++) states[v][k].re = states[v][k].im = states[v][k].re_rest = states[v][k].im_rest = 0.0f;
        int first = upwards ? y0 + count - 1 : y0, step = upwards ? -1 : 1;
        for (int t = -warm; t < count; t += ROWS)
            for (int v = 0; v < VECTORS && x0 + v * LANES < width; v++) {
                int x = x0 + v * LANES;
                lanes value[ROWS], sum[ROWS];
                UNROLLED
                for (int r = 0; r < ROWS; r++) {
                    int y = first + step * (t + r), row = border_index(y, height), inside = t + r >= 0 && t + r < count;
                    value[r] = row < 0 ? (lanes)cval : load(in + (size_t)row * width + x, width - x);
                    sum[r] = upwards && inside ? centre * value[r] + load(out + (size_t)y * width + x, width - x) : (lanes)0.0f;
                }
                UNROLLED
                for (int k = 0; k < TERMS; k++) {
                    float4 term = terms[k];
                    State z = states[v][k];
                    UNROLLED
                    for (int r = 0; r < ROWS; r++) {
                        sum[r] = fma((lanes)term.z, z.re, fma((lanes)-term.w, z.im, sum[r]));
                        lanes re = fma((lanes)-term.x, z.re, fma((lanes)term.y, z.im, value[r]));
                        lanes im = -fma((lanes)term.x, z.im, (lanes)term.y * z.re);
                        z.re = add(z.re, re, &z.re_rest);
                        z.im = add(z.im, im, &z.im_rest);
                    }
                    states[v][k] = z;
                }
                UNROLLED
                for (int r = 0; r < ROWS; r++)
                    if (t + r >= 0 && t + r < count)
                        store(sum[r], out + (size_t)(first + step * (t + r)) * width + x, width - x);
            }
    }
}
