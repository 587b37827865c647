// Structural similarity (Z. Wang, A. Bovik, H. Sheikh, E. Simoncelli, IEEE Trans. Image Process. 13, 2004) is the
// product of two terms, both 1 for equal images:
//   luminance  (2 μa μb + C1) / (μa² + μb² + C1)  = 1 − (μa − μb)² / (μa² + μb² + C1)
//   contrast   (2 σab + C2) / (σa² + σb² + C2)    = 1 − (σa² + σb² − 2 σab) / (σa² + σb² + C2)
// Means and variances are those of moments.cl; `sample` times the variance is that of the window's pixels as a sample.
//
// A result at row y and column x has a window that begins `margin` rows above and columns left of it. Beyond the edges
// images are mirrored, dcba|abcd|dcba; with a margin of 0, no result that counts reads there.
//
// -D MAP   gives the similarity of each pixel instead of sums
// The file stands after lanes.cl, sums.cl, moments.cl and reflected.cl.
// Local: a power of two; work-items take WIDTH columns in turn. Global: (local × strips, bands, planes).
// lines: two sets of LINES lines of `length` values. ring: ROWS · TAPS · length values. sums: one for
// each work-item.

// Values x … x + WIDTH − 1 of a row of n values.
static inline FLOAT row_at(__global const float *row, int x, int n) {
#if WIDTH == 1
    return row[reflected(x, n)];
#else
    if (x >= 0 && x + WIDTH <= n) return vload8(0, row + x);
    float v[WIDTH];
    for (int k = 0; k < WIDTH; k++) v[k] = row[reflected(x + k, n)];
    return vload8(0, v);
#endif
}

// Says where values are equal but not finite: they are taken as 0, so that they do not count.
static inline INT equal_and_not_finite(FLOAT a, FLOAT b) {
    return (isnan(a) & isnan(b)) | (isinf(a) & isequal(a, b));
}

// partial: the sum of similarities and that of contrast terms, each with its rounding error, for each group.
__kernel void ssim(__global const float *a, __global const float *b, __global const float *weights,
#ifdef MAP
                   __global float *map,
#else
                   __global float4 *partial,
#endif
                   int height, int width, int rows, int columns, int margin, int strip, int length, int band, float c1,
                   float c2, float sample, __local float *lines, __local float *ring, __local float2 *sums) {
    int item = get_local_id(0) * WIDTH, step = get_local_size(0) * WIDTH;
    int x0 = get_group_id(0) * strip, y0 = get_group_id(1) * band, y1 = min(y0 + band, rows);
    size_t size = (size_t)height * width;
    a += get_group_id(2) * size;
    b += get_group_id(2) * size;
    int wide = min(strip, columns - x0);  // columns of results
    Total similarity = {0.0f, 0.0f}, contrasts = {0.0f, 0.0f};
    for (int r = 0, slot = 0; r < y1 - y0 + TAPS - 1; r++, slot = slot == TAPS - 1 ? 0 : slot + 1) {
        __local float *of_row = lines + (r & 1) * LINES * length, *newest = ring + ROWS * slot * length;
        int whole = r < TAPS - 1 ? -TAPS : wide;  // no window is in the ring before
        size_t from = (size_t)reflected(y0 - margin + r, height) * width;
        for (int i = item; i < wide + TAPS - 1; i += step) {
            FLOAT p = row_at(a + from, x0 - margin + i, width), q = row_at(b + from, x0 - margin + i, width);
            INT hidden = equal_and_not_finite(p, q);
            PUT(select(p, (FLOAT)0.0f, hidden), newest + i);
            PUT(select(q, (FLOAT)0.0f, hidden), newest + length + i);
#ifdef LOW
            size_t low = get_num_groups(2) * size + from;
            p = row_at(a + low, x0 - margin + i, width), q = row_at(b + low, x0 - margin + i, width);
            PUT(select(p, (FLOAT)0.0f, hidden), newest + 2 * length + i);
            PUT(select(q, (FLOAT)0.0f, hidden), newest + 3 * length + i);
#endif
            if (r >= TAPS - 1) down(ring, i, length, slot, weights, of_row);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = item; i < whole + TAPS - 2; i += step) step_along(ring, i, length, slot, of_row);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = item; i < whole; i += step) {
            Moments m = along(ring, i, length, slot, weights, of_row);
            FLOAT contrast = 1.0f - sample * m.apart / (sample * m.variances + c2);
            FLOAT difference = m.a - m.b;
            FLOAT s = contrast - contrast * difference * difference / (m.a * m.a + m.b * m.b + c1);
#ifdef MAP
            size_t row = ((size_t)get_group_id(2) * rows + y0 + r - TAPS + 1) * columns;
            store(s, map + row + x0 + i, wide - i);
#else
            INT counts = LANE_INDEX < (INT)(wide - i);
            accumulate(&similarity, select((FLOAT)0.0f, s, counts));
            accumulate(&contrasts, select((FLOAT)0.0f, contrast, counts));
#endif
        }
    }
#ifndef MAP
    float2 of_similarity = group_total(similarity, sums), of_contrast = group_total(contrasts, sums);
    if (item == 0) {
        size_t group = get_group_id(0) + get_num_groups(0) * (get_group_id(1) + get_num_groups(1) * get_group_id(2));
        partial[group] = (float4)(of_similarity, of_contrast);
    }
#endif
}
