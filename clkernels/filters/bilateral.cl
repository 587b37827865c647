// Bilateral filter (Tomasi & Manduchi, "Bilateral filtering for gray and color images", ICCV 1998):
//   out(p) = Σ_q w(p, q) in(q) / Σ_q w(p, q),   w(p, q) = exp(−|q − p|² / 2σ_spatial² − |c(q) − c(p)|² / 2σ_colour²)
// over q in a window around p, where c is the COLOURS first planes: all planes share one weight. The kernels sum the
// differences to in(p), whose mean is out − in(p): so constants stay exactly, and rounding is relative to the contrast.
// A weight is a power of two: if values are multiplied by `scale` = √(log2(e) / 2σ_colour²), its exponent is the
// distance's exponent minus the squares of the differences. Tap k is the sample taps[k] further on, and exponents[k] is
// its distance's exponent; p itself, of weight 1, is not among the taps. Weights below 2^CUT are 0, as are the weights
// of pixels with a value that is not finite; such a pixel's own result is its input.
// Planes are float (plane, row, column). The border is as in border.cl, with cval outside in all planes (constant).
//
// -D BORDER_x
// -D COLOURS=n  is the number of planes that decide the weights
// -D ALPHA      one more plane only takes the weights
// -D ROWS=n     is the number of results of a work-item, for which it reads an exponent once
// -D WIDE       takes sixteen columns at a time, for CPUs

#define UNROLLED __attribute__((opencl_unroll_hint))
#define CUT -64.0f

#ifdef ALPHA
#define PLANES (COLOURS + 1)
#else
#define PLANES COLOURS
#endif

#ifdef WIDE
#define LANES 16
typedef float16 lanes;
// This is one load; PoCL makes eight of vload16, and its compiler may go on with the pieces one by one.
typedef float16 __attribute__((aligned(4))) unaligned16;
static inline lanes load(__local const float *p) { return *(__local const unaligned16 *)p; }
#else
#define LANES 1
typedef float lanes;
static inline lanes load(__local const float *p) { return *p; }
#endif

// Gives 2^e for −126 ≤ e ≤ 0.
#ifdef WIDE
// Adding 1.5 · 2^23 leaves e's whole part in the last bits of the sum, from which it goes to the exponent. The rest,
// within −½ … ½, goes through the polynomial of least relative error there: 7.5e-8, with rounding 2.5e-7.
static inline float16 power(float16 e) {
    float16 sum = e + 12582912.0f, f = e - (sum - 12582912.0f);  // 1.5 · 2^23
    float16 p = fma((float16)1.3276471564e-3f, f, (float16)9.6755413760e-3f);
    p = fma(p, f, (float16)5.5507132756e-2f);
    p = fma(p, f, (float16)2.4022119723e-1f);
    p = fma(p, f, (float16)6.9314696706e-1f);
    p = fma(p, f, (float16)1.0000000717f);
    return as_float16(as_int16(p) + (as_int16(sum) << 23));
}
#else
static inline float power(float e) { return exp2(e); }
#endif

// Adds a sample that differs by d from p; `exponent` is its distance's.
static inline void add(const lanes *d, float exponent, lanes *sums, lanes *total) {
    lanes e = exponent;
    UNROLLED
    for (int c = 0; c < COLOURS; c++) e = fma(-d[c], d[c], e);
#ifdef ALPHA
    e = fma(d[COLOURS], (lanes)0.0f, e);  // alpha does not decide, but makes e NaN if it is not finite
#endif
    lanes w = power(e);
    *total = e > CUT ? *total + w : *total;
    UNROLLED
    for (int c = 0; c < PLANES; c++) sums[c] = e > CUT ? fma(w, d[c], sums[c]) : sums[c];
}

// A tile with its margin is in local memory. A group makes `columns` × `rows` results. On GPUs it is (columns, rows /
// ROWS, 1), with WIDE one work-item. `rows` is a multiple of ROWS and, with WIDE, `columns` one of 16. `pitch` is a
// tile row's length, columns + 2·radius at least; tile holds PLANES · (rows + 2·radius) · pitch; taps count from the
// window's upper left.

// Gives what is to be added to ROWS samples that are `step` apart. `tile` points to the upper left of the first one's
// window; planes are `area` apart.
static inline void changes(__local const float *tile, __global const int *taps, __global const float *exponents, int count,
                           int centre, int area, int step, float scale, lanes (*out)[PLANES]) {
    lanes here[ROWS][PLANES], total[ROWS];
    UNROLLED
    for (int m = 0; m < ROWS; m++) {
        total[m] = 1.0f;
        UNROLLED
        for (int c = 0; c < PLANES; c++) {
            here[m][c] = load(tile + centre + c * area + m * step);
            out[m][c] = 0.0f;
        }
    }
    for (int k = 0; k < count; k++) {
        __local const float *at = tile + taps[k];
        UNROLLED
        for (int m = 0; m < ROWS; m++) {
            lanes d[PLANES];
            UNROLLED
            for (int c = 0; c < PLANES; c++) d[c] = load(at + c * area + m * step) - here[m][c];
            add(d, exponents[k], out[m], total + m);
        }
    }
    UNROLLED
    for (int m = 0; m < ROWS; m++)
        UNROLLED
        for (int c = 0; c < PLANES; c++) out[m][c] /= total[m] * scale;
}

#ifdef WIDE

// Copies the row's samples from column x on to `to`[0 … count − 1].
static inline void copy_row(__global const float *row, int x, int count, int width, float scale, float cval,
                            __local float *to) {
    for (int i = 0; i < count;) {
        if (row && x + i >= 0 && x + i + 16 <= width && i + 16 <= count) {
            vstore16(vload16(0, row + x + i) * scale, 0, to + i);
            i += 16;
        } else {
            int at = row ? border_column(x + i, width) : -1;
            to[i++] = scale * (at < 0 ? cval : row[at]);
        }
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void bilateral(__global const float *in, __global const int *taps, __global const float *exponents, __global float *out,
               int height, int width, int radius, int count, int columns, int rows, int pitch, float scale, float cval,
               __local float *tile) {
    int x0 = get_global_id(0) * columns, y0 = get_global_id(1) * rows, area = (rows + 2 * radius) * pitch;
    columns = min(columns, width - x0), rows = min(rows, height - y0);
    size_t plane = (size_t)height * width;
    int wide = (columns + 15) / 16 * 16 + 2 * radius, high = (rows + ROWS - 1) / ROWS * ROWS + 2 * radius;
    for (int c = 0; c < PLANES; c++)
        for (int j = 0; j < high; j++) {
            int y = border_index(y0 - radius + j, height);
            __global const float *row = y < 0 ? 0 : in + c * plane + (size_t)y * width;
            copy_row(row, x0 - radius, wide, width, scale, cval, tile + c * area + j * pitch);
        }
    for (int y = 0; y < rows; y += ROWS)
        for (int x = 0; x < columns; x += 16) {
            lanes v[ROWS][PLANES];
            changes(tile + y * pitch + x, taps, exponents, count, radius * (pitch + 1), area, pitch, scale, v);
            UNROLLED
            for (int m = 0; m < ROWS; m++) {
                UNROLLED
                for (int c = 0; c < PLANES; c++) {
                    size_t at = c * plane + (size_t)(y0 + y + m) * width + x0 + x;
                    if (y + m < rows && columns - x >= 16) {
                        vstore16(vload16(0, in + at) + v[m][c], 0, out + at);
                    } else if (y + m < rows) {
                        float s[16];
                        vstore16(v[m][c], 0, s);
                        for (int l = 0; l < columns - x; l++) out[at + l] = in[at + l] + s[l];
                    }
                }
            }
        }
}

#else

__kernel void bilateral(__global const float *in, __global const int *taps, __global const float *exponents,
                        __global float *out, int height, int width, int radius, int count, int columns, int rows, int pitch,
                        float scale, float cval, __local float *tile) {
    int i = get_local_id(0), j = get_local_id(1), step = rows / ROWS, high = rows + 2 * radius;
    int x0 = get_group_id(0) * columns, y0 = get_group_id(1) * rows, area = high * pitch;
    size_t plane = (size_t)height * width;
    for (int t = i; t < columns + 2 * radius; t += columns) {
        int x = border_column(x0 - radius + t, width);
        for (int r = j; r < high; r += step) {
            int y = border_index(y0 - radius + r, height);
            UNROLLED
            for (int c = 0; c < PLANES; c++)
                tile[c * area + r * pitch + t] = scale * (x < 0 || y < 0 ? cval : in[c * plane + (size_t)y * width + x]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    lanes v[ROWS][PLANES];
    changes(tile + j * pitch + i, taps, exponents, count, radius * (pitch + 1), area, step * pitch, scale, v);
    UNROLLED
    for (int m = 0; m < ROWS; m++) {
        int y = y0 + j + m * step;
        size_t at = (size_t)y * width + x0 + i;
        if (x0 + i < width && y < height)
            UNROLLED
            for (int c = 0; c < PLANES; c++) out[c * plane + at] = in[c * plane + at] + v[m][c];
    }
}

// Reads global memory directly, for windows whose tile exceeds local memory; its taps have a pitch of 1 << 16.
__kernel void bilateral_direct(__global const float *in, __global const int *taps, __global const float *exponents,
                               __global float *out, int height, int width, int radius, int count, float scale, float cval) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    size_t plane = (size_t)height * width, at = (size_t)y * width + x;
    float here[PLANES], sums[PLANES], total = 1.0f;
    UNROLLED
    for (int c = 0; c < PLANES; c++) {
        here[c] = in[c * plane + at] * scale;
        sums[c] = 0.0f;
    }
    for (int k = 0; k < count; k++) {
        int j = border_index(y - radius + (taps[k] >> 16), height), i = border_column(x - radius + (taps[k] & 65535), width);
        float d[PLANES];
        UNROLLED
        for (int c = 0; c < PLANES; c++)
            d[c] = scale * (i < 0 || j < 0 ? cval : in[c * plane + (size_t)j * width + i]) - here[c];
        add(d, exponents[k], sums, &total);
    }
    UNROLLED
    for (int c = 0; c < PLANES; c++) out[c * plane + at] = in[c * plane + at] + sums[c] / (total * scale);
}
#endif
