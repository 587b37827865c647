// interpolate.cl for the vectors of a CPU: see there.
//
// -D BORDER_x   -D TAPS_Y=n -D TAPS_X=n   1: this axis stays as it is
// -D TILE=n -D BAND=n   fine columns of a work-item, bases of its rows

#define UNROLLED __attribute__((opencl_unroll_hint))

// Groups of one work-item. Lanes are rows along the rows, and then columns: LINES is a multiple of 16.
#define LINES (BAND + TAPS_Y - 1)
#define COLUMNS (TAPS_X == 1 ? TILE : TILE * 2 / 3 + TAPS_X + 3)  // coarse ones: steps are hardly below 1.5

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void interpolate_wide(__global const float *in, __global float *out, __global const int *starts_y,
                 __global const float *weights_y, __global const int *bases_x, __global const float *weights_x,
                 int height, int width, int low_y, int rows, int columns) {
    __local float coarse[COLUMNS * LINES], line[LINES * TILE];  // of each coarse column all rows; the other way round
    int x0 = get_global_id(0) * TILE, count = min(TILE, width - x0), i0 = bases_x[x0];
    int b0 = (int)get_global_id(1) * BAND - (TAPS_Y - 1);
    in += get_global_id(2) * (size_t)rows * columns;
    out += get_global_id(2) * (size_t)height * width + x0;
    for (int r = 0; r < LINES; r++) {
        __global const float *row = in + (size_t)border_index(b0 + r, rows) * columns;
        for (int i = 0, last = bases_x[x0 + count - 1] + TAPS_X - i0; i < last; i++)
            coarse[i * LINES + r] = row[border_index(i0 + i, columns)];
    }
    for (int x = 0; x < count; x++)
        for (int g = 0; g < LINES; g += 16) {
            float16 sum = 0.0f;
            UNROLLED
            for (int k = 0; k < TAPS_X; k++) {
                float16 v = vload16(0, coarse + (bases_x[x0 + x] - i0 + k) * LINES + g);
                sum = fma((float16)weights_x[(x0 + x) * TAPS_X + k], v, sum);
            }
            float s[16];
            vstore16(sum, 0, s);
            for (int r = 0; r < 16; r++) line[(g + r) * TILE + x] = s[r];
        }
    for (int b = 0; b < BAND && b0 + b < rows; b++) {
        int end = min(starts_y[b0 + b + TAPS_Y] + low_y, height);
        for (int y = max(starts_y[b0 + b + TAPS_Y - 1] + low_y, 0); y < end; y++)
            for (int x = 0; x < count; x += 16) {
                float16 sum = 0.0f;
                UNROLLED
                for (int k = 0; k < TAPS_Y; k++)
                    sum = fma((float16)weights_y[y * TAPS_Y + k], vload16(0, line + (b + k) * TILE + x), sum);
                if (x + 16 <= count) {
                    vstore16(sum, 0, out + (size_t)y * width + x);
                } else {
                    float s[16];
                    vstore16(sum, 0, s);
                    for (int l = 0; x + l < count; l++) out[(size_t)y * width + x + l] = s[l];
                }
            }
    }
}
