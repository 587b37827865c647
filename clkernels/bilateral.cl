// Bilateral filter (Tomasi & Manduchi, "Bilateral filtering for gray and color images", ICCV 1998):
//   out(p) = Σ_q w(p, q) in(q) / Σ_q w(p, q),   w(p, q) = exp(−|q − p|² / 2σ_spatial² − |c(q) − c(p)|² / 2σ_colour²)
// over q in a window around p, c being the COLOURS first planes: one weight for all planes. As out − in(p) is the mean of the
// differences, these are what is summed: constants stay exactly, and rounding is relative to the contrast.
// A weight is one power of two: exponents[k] = −log2(e) |q − p|² / 2σ_spatial² of the (2·radius + 1)² of a square, row by
// row, and sharpness = log2(e) / 2σ_colour². Of window row k those are in it that are at most reaches[k] columns away.
// Weights below 2^CUT are 0, as are those of a pixel with a value that is not finite; its own result is itself.
// Planar float (plane, row, column). Border: see border.cl; outside (constant) counts as cval, in all planes.
//
// -D BORDER_x   -D COLOURS=n   -D ALPHA   one more plane, which only takes the weights
// -D ROWS=n     results of a work-item, for which an exponent is read once
// -D WIDE       sixteen columns at a time, for CPUs

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
static inline lanes load(__local const float *p) { return vload16(0, p); }
#else
#define LANES 1
typedef float lanes;
static inline lanes load(__local const float *p) { return *p; }
#endif

// 2^e for e > CUT, else 0.
#ifdef WIDE
// The whole part of e goes to the exponent by way of the sum's last bits; the rest, of −½ … ½, to the polynomial whose
// relative error there is least: 7.5e-8, and with rounding 2.5e-7.
static inline float16 weight(float16 e) {
    float16 sum = e + 12582912.0f, f = e - (sum - 12582912.0f);  // 1.5 · 2^23
    float16 p = fma((float16)1.3276471564e-3f, f, (float16)9.6755413760e-3f);
    p = fma(p, f, (float16)5.5507132756e-2f);
    p = fma(p, f, (float16)2.4022119723e-1f);
    p = fma(p, f, (float16)6.9314696706e-1f);
    p = fma(p, f, (float16)1.0000000717f);
    return e > CUT ? as_float16(as_int16(p) + (as_int16(sum) << 23)) : 0.0f;
}
#else
static inline float weight(float e) { return e > CUT ? exp2(e) : 0.0f; }
#endif

// Adds what the sample with the differences d weighs. `s`: its exponent by distance.
static inline void add(const lanes *d, float s, float sharpness, lanes *sums, lanes *total) {
    lanes distance = d[0] * d[0];
    UNROLLED
    for (int c = 1; c < COLOURS; c++) distance = fma(d[c], d[c], distance);
    lanes e = fma(distance, (lanes)-sharpness, (lanes)s);
#ifdef ALPHA
    e = fma(d[COLOURS], (lanes)0.0f, e);  // NaN if it is not finite
#endif
    lanes w = weight(e);
    *total += w;
    UNROLLED
    for (int c = 0; c < PLANES; c++) sums[c] = e > CUT ? fma(w, d[c], sums[c]) : sums[c];
}

// A tile with its margin in local memory. Group: (GPUs) (columns, rows / ROWS, 1), (WIDE) one work-item, for `columns` ×
// `rows` results, `rows` of ROWS and (WIDE) `columns` of 16s; `pitch`: of a tile's row, columns + 2·radius at least;
// tile: PLANES · (rows + 2·radius) · pitch.
static inline void results(__local const float *tile, __global const float *exponents, __global const int *reaches,
                           int radius, int pitch, int area, int step, float sharpness, lanes (*out)[PLANES]) {
    lanes centre[ROWS][PLANES], total[ROWS];
    UNROLLED
    for (int m = 0; m < ROWS; m++) {
        total[m] = 1.0f;
        UNROLLED
        for (int c = 0; c < PLANES; c++) {
            centre[m][c] = load(tile + c * area + m * step + radius * pitch + radius);
            out[m][c] = 0.0f;
        }
    }
    for (int j = 0; j <= 2 * radius; j++) {
        int reach = reaches[j], first = radius - reach, last = radius + reach;
        __global const float *s = exponents + j * (2 * radius + 1);
        __local const float *row = tile + j * pitch;
        for (int i = first; i <= last; i++) {
            if (j == radius && i == radius) continue;  // itself, of weight 1
            UNROLLED
            for (int m = 0; m < ROWS; m++) {
                lanes d[PLANES];
                UNROLLED
                for (int c = 0; c < PLANES; c++) d[c] = load(row + i + c * area + m * step) - centre[m][c];
                add(d, s[i], sharpness, out[m], total + m);
            }
        }
    }
    UNROLLED
    for (int m = 0; m < ROWS; m++)
        UNROLLED
        for (int c = 0; c < PLANES; c++) out[m][c] = centre[m][c] + out[m][c] / total[m];
}

#ifdef WIDE

// `to`[0 … count − 1] = the row's samples from column x on.
static inline void copy_row(__global const float *row, int x, int count, int width, float cval, __local float *to) {
    for (int i = 0; i < count;) {
        if (x + i >= 0 && x + i + 16 <= width && i + 16 <= count) {
            vstore16(vload16(0, row + x + i), 0, to + i);
            i += 16;
        } else {
            int at = border_index(x + i, width);
            to[i++] = at < 0 ? cval : row[at];
        }
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void bilateral(__global const float *in, __global const float *exponents, __global const int *reaches, __global float *out,
               int height, int width, int radius, int columns, int rows, int pitch, float sharpness, float cval,
               __local float *tile) {
    int x0 = get_global_id(0) * columns, y0 = get_global_id(1) * rows, area = (rows + 2 * radius) * pitch;
    columns = min(columns, width - x0), rows = min(rows, height - y0);
    size_t plane = (size_t)height * width;
    int wide = (columns + 15) / 16 * 16 + 2 * radius, high = (rows + ROWS - 1) / ROWS * ROWS + 2 * radius;
    for (int c = 0; c < PLANES; c++)
        for (int j = 0; j < high; j++) {
            int y = border_index(y0 - radius + j, height);
            __local float *to = tile + c * area + j * pitch;
            if (y < 0)
                for (int i = 0; i < wide; i++) to[i] = cval;
            else
                copy_row(in + c * plane + (size_t)y * width, x0 - radius, wide, width, cval, to);
        }
    for (int y = 0; y < rows; y += ROWS)
        for (int x = 0; x < columns; x += 16) {
            lanes v[ROWS][PLANES];
            results(tile + y * pitch + x, exponents, reaches, radius, pitch, area, pitch, sharpness, v);
            UNROLLED
            for (int m = 0; m < ROWS; m++) {
                if (y + m >= rows) break;
                UNROLLED
                for (int c = 0; c < PLANES; c++) {
                    __global float *to = out + c * plane + (size_t)(y0 + y + m) * width + x0 + x;
                    if (columns - x >= 16) {
                        vstore16(v[m][c], 0, to);
                    } else {
                        float s[16];
                        vstore16(v[m][c], 0, s);
                        for (int l = 0; l < columns - x; l++) to[l] = s[l];
                    }
                }
            }
        }
}

#else

__kernel void bilateral(__global const float *in, __global const float *exponents, __global const int *reaches,
                        __global float *out, int height, int width, int radius, int columns, int rows, int pitch,
                        float sharpness, float cval, __local float *tile) {
    int i = get_local_id(0), j = get_local_id(1), step = rows / ROWS, high = rows + 2 * radius;
    int x0 = get_group_id(0) * columns, y0 = get_group_id(1) * rows, area = high * pitch;
    size_t plane = (size_t)height * width;
    for (int t = i; t < columns + 2 * radius; t += columns) {
        int x = border_index(x0 - radius + t, width);
        for (int r = j; r < high; r += step) {
            int y = border_index(y0 - radius + r, height);
            UNROLLED
            for (int c = 0; c < PLANES; c++)
                tile[c * area + r * pitch + t] = x < 0 || y < 0 ? cval : in[c * plane + (size_t)y * width + x];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    lanes v[ROWS][PLANES];
    results(tile + j * pitch + i, exponents, reaches, radius, pitch, area, step * pitch, sharpness, v);
    UNROLLED
    for (int m = 0; m < ROWS; m++) {
        int y = y0 + j + m * step;
        if (x0 + i < width && y < height)
            UNROLLED
            for (int c = 0; c < PLANES; c++) out[c * plane + (size_t)y * width + x0 + i] = v[m][c];
    }
}

// Straight from global memory, for windows whose tile local memory cannot hold.
__kernel void bilateral_direct(__global const float *in, __global const float *exponents, __global const int *reaches,
                               __global float *out, int height, int width, int radius, float sharpness, float cval) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    size_t plane = (size_t)height * width;
    float centre[PLANES], sums[PLANES], total = 1.0f;
    UNROLLED
    for (int c = 0; c < PLANES; c++) {
        centre[c] = in[c * plane + (size_t)y * width + x];
        sums[c] = 0.0f;
    }
    for (int j = 0; j <= 2 * radius; j++) {
        int row = border_index(y - radius + j, height), reach = reaches[j];
        __global const float *s = exponents + j * (2 * radius + 1);
        for (int i = radius - reach; i <= radius + reach; i++) {
            if (j == radius && i == radius) continue;
            int column = border_index(x - radius + i, width);
            float d[PLANES];
            UNROLLED
            for (int c = 0; c < PLANES; c++)
                d[c] = (row < 0 || column < 0 ? cval : in[c * plane + (size_t)row * width + column]) - centre[c];
            add(d, s[i], sharpness, sums, &total);
        }
    }
    UNROLLED
    for (int c = 0; c < PLANES; c++) out[c * plane + (size_t)y * width + x] = centre[c] + sums[c] / total;
}
#endif
