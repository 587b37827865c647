// One lifting step, with the constants that gpuops/wavelets/lifting.py writes before this file.
//
//   floats          target[k] + Σ_j WEIGHT[s][j] other[k + FIRST[s] + j]
//   whole numbers   target[k] ± ((Σ + ROUNDING[s]) >> SHIFT[s])
//
// Step s changes the even or the odd samples, the target, by the others. W. Sweldens, SIAM J. Math. Anal. 29
// (1998).
//
// After dwt_extension.cl. -D SUMS=long… and -D WS=…: vectors as W of long and of S, by name, where sums need
// 64 bits, which WIDE says.

// How many neighbours along the axis a work-item takes at once: -D LANES=8 -D LANES2=16 for private rows, whose
// compilers do not find these vectors by themselves. What a vector computes beyond a step's range nobody reads.
#ifdef LANES
typedef JOIN(S, LANES) W;
typedef JOIN(S, LANES2) W2;
#else
#define LANES 1
typedef V W;
#endif

// Tells compilers that spread work-items over vector registers (Intel's) that the registers are full already.
#define ALREADY_WIDE __attribute__((vec_type_hint(W)))

#ifdef WIDE
#define SUM SUMS
#define TO_SUM(v) JOIN(convert_, SUMS)(v)
#define FROM_SUM(v) JOIN(convert_, WS)(v)
#else
#define SUM W
#define TO_SUM(v) (v)
#define FROM_SUM(v) (v)
#endif

#ifdef STEPS
#define IS_TAP(s, j) (WEIGHT[(s) * TAPS + (j)] != 0)  // all steps have as many weights as the longest

static inline W lifted(int s, W target, const W *others) {
    SUM sum = 0;
#pragma unroll
    for (int j = 0; j < TAPS; j++)
        if (IS_TAP(s, j)) sum += WEIGHT[s * TAPS + j] * TO_SUM(others[j]);
#ifdef INTEGER
    sum = (sum + ROUNDING[s]) >> SHIFT[s];
    sum = SUBTRACT[s] ? -sum : sum;
#endif
    return target + FROM_SUM(sum);
}
#endif
