// Steps of fft_local.cl for stage 1 where its radix is a large prime, whose butterflies several work-items share.
//
// All samples but number 0 are in the order of powers of a primitive root g: x[k] is sample g^(−k), as Rader (1968) found.
// With h = (p − 1) / 2, s = x[k] + x[k + h] and d = x[k] − x[k + h], the results with numbers ±g^j are
//   x0 + Σ s·cos(2π·g^(j−k) / p) ∓ i · Σ d·sin(2π·g^(j−k) / p),  0 ≤ k < h.
// The values stay in local memory. Piece q of a butterfly has the sums of SHARE neighbouring j in registers, for which each
// next k needs the same cosines but one; the next work-items have the sums of the same j of other butterflies.
//
// -D SHARE=n             the results of a piece, each with its mirror image
// -D TERMS=n             the terms of a block: terms are summed block by block, then the blocks, which keeps the error small
// places[], numbers[]    in that order, the samples' places and the first h results' numbers

#define HALF_WAY (RADIX_1 / 2)
#define COSINES (POINTS * (PAIRED ? 3 : 1) + HALF_WAY - 1)  // where the table of the sums' cosines and sines begins
#define SHARED_BUTTERFLY (PIECE % BUTTERFLIES(1))
#define PART (PIECE / BUTTERFLIES(1))
#define FROM (memory + own + padded(FIRST(1, SHARED_BUTTERFLY)) + set * CARRIED * SEQUENCE_PLACES)
#define VALUE_AT(k, slot) at[((k) * STRIDE_1 + (OWN_MIRROR ? 0 : (slot)) * SEQUENCE_PLACES) * SPACING]
#define EACH_RESULT UNROLLED for (int r = 0; r < SHARE; r++)

// `terms` terms of all sums, whose first is number k.
#define BLOCK(terms)                                                                                \
    {                                                                                               \
        moved even[CARRIED][SHARE], odd[CARRIED][SHARE], rest[CARRIED];                             \
        real2 c[terms + SHARE];                                                                     \
        EACH_CARRIED {                                                                              \
            rest[slot] = 0;                                                                         \
            EACH_RESULT even[slot][r] = odd[slot][r] = 0;                                           \
        }                                                                                           \
        UNROLLED for (int n = 0; n < terms + SHARE - 1; n++) c[n] = w[n + 1 - terms];               \
        UNROLLED for (int j = 0; j < terms; j++) EACH_CARRIED {                                     \
            const moved a = VALUE_AT(k + j, slot), z = VALUE_AT(k + j + HALF_WAY, slot);            \
            const moved sum = a + z, difference = a - z;                                            \
            rest[slot] += sum;                                                                      \
            EACH_RESULT {                                                                           \
                even[slot][r] += c[r - j + terms - 1].x * sum;                                      \
                odd[slot][r] += c[r - j + terms - 1].y * difference;                                \
            }                                                                                       \
        }                                                                                           \
        EACH_CARRIED {                                                                              \
            sums[slot][2 * SHARE] += rest[slot];                                                    \
            EACH_RESULT {                                                                           \
                sums[slot][r] += even[slot][r];                                                     \
                sums[slot][r + SHARE] += odd[slot][r];                                              \
            }                                                                                       \
        }                                                                                           \
    }

// The sums of a piece: SHARE with cosines, as many with sines, then the sum of all values.
static inline void sum_up(moved sums[CARRIED][2 * SHARE + 1], __local const moved *at, __global const real2 *w) {
    EACH_CARRIED {
        sums[slot][2 * SHARE] = VALUE_AT(0, slot);
        EACH_RESULT {
            sums[slot][r] = VALUE_AT(0, slot);
            sums[slot][r + SHARE] = 0;
        }
    }
    uint k = 1;
    ROLLED
    for (; k <= HALF_WAY / TERMS * TERMS; k += TERMS, w -= TERMS) BLOCK(TERMS)
    if (HALF_WAY % TERMS) BLOCK(HALF_WAY % TERMS)
}

#define SUM_UP(part)                                                                                \
    {                                                                                               \
        moved sums[CARRIED][2 * SHARE + 1];                                                         \
        sum_up(sums, FROM, tables + COSINES + PART * SHARE);                                        \
        EACH_CARRIED UNROLLED for (int k = 0; k <= 2 * SHARE; k++) KEPT(1, slot, k) part = sums[slot][k]; \
    }

// Makes the two results of each pair from its two sums.
#define COMBINE                                                                                     \
    EACH_CARRIED EACH_RESULT {                                                                      \
        const cplx y = turned(KEPT(1, slot, r + SHARE));                                            \
        KEPT(1, slot, r + SHARE) = KEPT(1, slot, r) + y;                                            \
        KEPT(1, slot, r) -= y;                                                                      \
    }

// Writes a piece's results to their places; the last piece may have fewer. The first piece writes the sum of all values.
#define SCATTER(part)                                                                               \
    {                                                                                               \
        __local moved *at = FROM;                                                                   \
        EACH_RESULT if (HALF_WAY % SHARE == 0 || PART * SHARE + r < HALF_WAY) {                     \
            const uint n = numbers[PART * SHARE + r];                                               \
            EACH_CARRIED {                                                                          \
                VALUE_AT(n, slot) = KEPT(1, slot, r) part;                                          \
                VALUE_AT(RADIX_1 - n, slot) = KEPT(1, slot, r + SHARE) part;                        \
            }                                                                                       \
        }                                                                                           \
        if (PART == 0) EACH_CARRIED VALUE_AT(0, slot) = KEPT(1, slot, 2 * SHARE) part;              \
    }

// For the stage before, multiplies its results by this stage's twiddles.
#define DIGIT(i) (BUTTERFLY(i) / (BUTTERFLIES(i) / RADIX_1))
#ifdef COMPUTED
#define TURN(i) root(DIGIT(i) * k, STRIDE_1 * RADIX_1)
#else
#define TURN(i) (DIGIT(i) ? tables[DIGIT(i) * STRIDE_1 + k - 1] : (real2)(1, 0))
#endif
#define TURN_BEFORE(i) \
    EACH_SIDE(i) EACH_SLOT(i) EACH_VALUE(i, 1) KEPT(i, slot, k) = times(KEPT(i, slot, k), TURN(i));
