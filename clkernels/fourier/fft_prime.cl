// The transform of an odd prime number of values, in place and in loops, for primes too large for straight-line code.
//
// The sums and differences of x[k] and x[prime − k] meet cosines and sines. `roots` has exp(−2πi·j/prime) as pairs of
// cosine and negative sine. RESULTS results are computed at once, as they read the same values; where fewer are left,
// some are computed twice. Eight terms each are summed, then their sums, which keeps the error small. After fft.cl.

// REMAINDER(n) is of n < 2·prime. Where the prime is not compiled in, a division would take longer than the sums.
#ifdef ANY_LENGTH
#define ROOTS __global
#define REMAINDER(n) min((uint)(n), (uint)(n) - prime)
#else
#define ROOTS __constant
#define REMAINDER(n) (n) % prime
#endif
#define RESULTS 4
#define EACH_RESULT UNROLLED for (int r = 0; r < RESULTS; r++)

static inline void dft_of_prime(cplx *x, cplx *y, const int prime, ROOTS const real *roots) {
    const int half_way = prime / 2;
    cplx sum = x[0];
    ROLLED
    for (int k = 1; k <= half_way; k++) {
        const cplx a = x[k], b = x[prime - k];
        x[k] = a + b;
        x[prime - k] = turned(a - b);
        sum += x[k];
    }
    ROLLED
    for (int j = 1; j <= half_way; j += RESULTS) {
        cplx even[RESULTS], odd[RESULTS];
        int jk[RESULTS];  // the root's number: j·k modulo the prime
        EACH_RESULT {
            even[r] = x[0];
            odd[r] = 0;
            jk[r] = j + r;
        }
        ROLLED
        for (int k = 1; k <= half_way;) {
            cplx c[RESULTS], s[RESULTS];
            EACH_RESULT c[r] = s[r] = 0;
            ROLLED
            for (const int end = min(k + 7, half_way); k <= end; k++) {
                const cplx a = x[k], b = x[prime - k];
                EACH_RESULT {
                    c[r] += roots[2 * jk[r]] * a;
                    s[r] += roots[2 * jk[r] + 1] * b;
                    jk[r] = REMAINDER(jk[r] + j + r);
                }
            }
            EACH_RESULT {
                even[r] += c[r];
                odd[r] += s[r];
            }
        }
        EACH_RESULT {
            y[j + r] = even[r] + odd[r];
            y[prime - j - r] = even[r] - odd[r];
        }
    }
    x[0] = sum;
    ROLLED
    for (int k = 1; k < prime; k++) x[k] = y[k];
}
