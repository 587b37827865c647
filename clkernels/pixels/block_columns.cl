// Blocks of 16 × 16 values turned, for the vectors of a CPU: rows become columns.

#define UNROLLED __attribute__((opencl_unroll_hint))

// Eight columns of a 16 × 16 block, from a vector's value `first` on: to[c] = (v[0][first + c], …, v[15][first + c]).
// Halves of vectors, of which AVX2 has registers enough: neighbours of two rows, of four, of eight. Inline, as a call
// would put all of them into memory.
static inline __attribute__((always_inline)) void columns_of(__local const float16 *v, int first, float16 *to) {
    float8 halves[2][8];
    UNROLLED
    for (int h = 0; h < 2; h++) {
        __local const float *rows = (__local const float *)(v + 8 * h) + first;
        float8 two[8], four[8];
        UNROLLED
        for (int i = 0; i < 8; i += 2) {
            float8 a = vload8(2 * i, rows), b = vload8(2 * i + 2, rows);
            two[i] = (float8)(a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5);
            two[i + 1] = (float8)(a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7);
        }
        UNROLLED
        for (int i = 0; i < 8; i += 4) {
            UNROLLED
            for (int j = 0; j < 2; j++) {
                float8 a = two[i + j], b = two[i + j + 2];
                four[i + 2 * j] = (float8)(a.s01, b.s01, a.s45, b.s45);
                four[i + 2 * j + 1] = (float8)(a.s23, b.s23, a.s67, b.s67);
            }
        }
        UNROLLED
        for (int c = 0; c < 4; c++) {
            halves[h][c] = (float8)(four[c].lo, four[c + 4].lo);
            halves[h][c + 4] = (float8)(four[c].hi, four[c + 4].hi);
        }
    }
    UNROLLED
    for (int c = 0; c < 8; c++) to[c] = (float16)(halves[0][c], halves[1][c]);
}
