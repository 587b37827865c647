// Blocks of 16 × 16 values turned, for the vectors of a CPU: rows become columns.

#define UNROLLED __attribute__((opencl_unroll_hint))

// Eight columns of a 16 × 16 block, from a vector's value `first` on: to[c] = (v[0][first + c], …, v[15][first + c]).
// Halves of vectors, of which AVX2 has registers enough: four values of a row beside those of the row four below, then
// neighbours of two rows, and of four. Inline, as a call would put all of them into memory.
static inline __attribute__((always_inline)) void columns_of(__local const float16 *v, int first, float16 *to) {
    float8 halves[2][8];
    UNROLLED
    for (int h = 0; h < 2; h++) {
        UNROLLED
        for (int q = 0; q < 8; q += 4) {
            __local const float *rows = (__local const float *)(v + 8 * h) + first + q;
            float8 four[4], low[2], high[2];
            UNROLLED
            for (int i = 0; i < 4; i++) four[i] = (float8)(vload4(4 * i, rows), vload4(4 * i + 16, rows));
            UNROLLED
            for (int i = 0; i < 2; i++) {
                float8 a = four[2 * i], b = four[2 * i + 1];
                low[i] = (float8)(a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5);
                high[i] = (float8)(a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7);
            }
            halves[h][q] = (float8)(low[0].s01, low[1].s01, low[0].s45, low[1].s45);
            halves[h][q + 1] = (float8)(low[0].s23, low[1].s23, low[0].s67, low[1].s67);
            halves[h][q + 2] = (float8)(high[0].s01, high[1].s01, high[0].s45, high[1].s45);
            halves[h][q + 3] = (float8)(high[0].s23, high[1].s23, high[0].s67, high[1].s67);
        }
    }
    UNROLLED
    for (int c = 0; c < 8; c++) to[c] = (float16)(halves[0][c], halves[1][c]);
}
