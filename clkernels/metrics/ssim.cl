// Structural similarity (Z. Wang, A. Bovik, H. Sheikh, E. Simoncelli, IEEE Trans. Image Process. 13, 2004) is the
// product of two terms, both 1 for equal images:
//   luminance  (2 μa μb + C1) / (μa² + μb² + C1)  = 1 − (μa − μb)² / (μa² + μb² + C1)
//   contrast   (2 σab + C2) / (σa² + σb² + C2)    = 1 − (σa² + σb² − 2 σab) / (σa² + σb² + C2)
// Means and variances are those of moments.cl; `sample` times the variance is that of the window's pixels as a sample.
// Subtracting a constant does not change variances. The first pixel of a group is subtracted, because a bright flat
// area would otherwise lose them to cancellation.
//
// A result at row y and column x has a window that begins `margin` rows above and columns left of it. Beyond the edges
// images are mirrored, dcba|abcd|dcba; with a margin of 0, no result that counts reads there.
//
// -D MAP   gives the similarity of each pixel instead of sums
// The file stands after lanes.cl, sums.cl, moments.cl and reflected.cl.
// Local: a power of two; work-items take WIDTH columns of a strip in turn. Global: (local × strips, bands, planes).
// lines: two sets of QUANTITIES lines of `length` values. ring: TAPS · QUANTITIES · strip values. sums: one for each
// work-item.

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
    a += (size_t)get_group_id(2) * height * width;
    b += (size_t)get_group_id(2) * height * width;
    int wide = min(strip, columns - x0);  // columns of results
    float2 base = (float2)(a[(size_t)y0 * width + x0], b[(size_t)y0 * width + x0]);
    if (!isfinite(base.x) || !isfinite(base.y)) base = 0.0f;  // it would spread over the strip
    Total similarity = {0.0f, 0.0f}, contrasts = {0.0f, 0.0f};
    for (int r = 0, slot = 0; r < y1 - y0 + TAPS - 1; r++, slot = slot == TAPS - 1 ? 0 : slot + 1) {
        // Two sets of lines take turns, so that nobody overwrites what others read.
        __local float *line = lines + (r & 1) * QUANTITIES * length;
        size_t from = (size_t)reflected(y0 - margin + r, height) * width;
        for (int i = item; i < wide + TAPS - 1; i += step) {
            FLOAT p = row_at(a + from, x0 - margin + i, width), q = row_at(b + from, x0 - margin + i, width);
            INT hidden = equal_and_not_finite(p, q);
            put(select(p, (FLOAT)0.0f, hidden) - base.x, select(q, (FLOAT)0.0f, hidden) - base.y, line + i, length);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = item; i < wide; i += step) {
            along(line + i, length, weights, ring + slot * QUANTITIES * strip + i, strip);
            if (r < TAPS - 1) continue;
            Moments m = down(ring + i, strip, weights, slot);
            FLOAT difference = m.a - m.b, variances = sample * not_negative(m.squares - m.a * m.a - m.b * m.b);
            FLOAT contrast = 1.0f - sample * not_negative(m.error - difference * difference) / (variances + c2);
            FLOAT mean_a = m.a + base.x, mean_b = m.b + base.y;
            difference = mean_a - mean_b;
            FLOAT s = contrast - contrast * difference * difference / (mean_a * mean_a + mean_b * mean_b + c1);
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
