// A transform of POINTS = r1·r2·…·rm points, or half of a longer one, in one launch with exchanges in local memory.
//
// A sequence has its places in local memory (decimation in time): sample n has the digit-reversed place, stage i joins ri
// transforms of s = r1·…·r(i−1) points that lie s apart, and the result is in order. The same stages backwards, with
// twiddles behind the butterfly (decimation in frequency), take the result back to the places of the samples, so that a
// convolution (an image's, or Bluestein's) never reorders.
//
// On a GPU a work-item keeps its values in registers, and local memory only exchanges them between stages: all at once, or
// real and imaginary parts in turn where local memory has room for half of them only. For CPUs there is fft_wide.cl.
// Sources: Cooley & Tukey 1965; Bluestein 1970; Van Loan, Computational Frameworks for the FFT, 1992.
//
// The text before this has butterflies, the constants below and STAGES, the steps of the kernel in their order
// (gpuops/fourier/engine/local_kernel.py). A step's first argument is the number of its stage, a literal.
// Global: groups · GROUP, 1-D; local: GROUP.
//
// GROUP, ITEMS, SETS, GROUP_COLUMNS    work-items of a group; of a sequence; sets of those that share sequences; columns
// ALONG                work-items are numbered along a sequence first, not across sequences
// LOADED, CARRIED      sequences that ITEMS · SETS work-items have; that one carries side by side
// MOST                 values of a sequence that a work-item carries at most
// PLACES, PAD          elements of local memory; those left out behind each of the last stage's runs, against bank conflicts
// LAST, LAST_STRIDE    the last stage's number and stride
// HALVED               local memory has room for real parts alone
// COMPUTED             twiddles are computed, not read from a table
// For each stage i:
// RADIX_i, STRIDE_i    its radix, and the product of the radices before
// PIECES_i, VALUES_i   the pieces of work that it is divided into, and the values of a sequence in each: butterflies, but
//                      parts of one in fft_rader.cl
// MIRRORED_i           1 where a piece is butterflies t and −t: see fft_pairs.cl; else 0
// REVERSED(t)          the place of the first element of the first stage's butterfly t: t with its digits reversed

#ifdef HALVED
typedef real moved;
#else
typedef cplx moved;
#endif

// -- which values a work-item has -------------------------------------------------------------------------------------

#define BUTTERFLIES(i) (POINTS / RADIX_##i)

// All of a work-item's pieces of stage i. The steps between two barriers are in one such loop and share its test, as
// compilers do not join the tests of several loops and then hold more values in registers. On GPUs a step that writes to
// local memory has a loop of its own: the reads of later pieces need not wait for it.
#if ITEMS > 1
#define EACH(i)                                                                       \
    UNROLLED for (uint block = 0; block < (PIECES_##i + ITEMS - 1) / ITEMS; block++)  \
        if ((block + 1) * ITEMS <= PIECES_##i || PIECE < PIECES_##i)
#define INDEX_OF_PIECE(i) (block * VALUES_##i)
#define PIECE (item + block * ITEMS)
#else
#define EACH(i) for (uint block = 0; block < PIECES_##i; block++)
#define INDEX_OF_PIECE(i) 0
#define PIECE block
#endif

// A piece has a butterfly t for each of some sequences, or butterflies t of the first half of them and −t of the others.
// A single sequence may be both halves: then it has two slots, else each sequence has one.
#define EACH_SIDE(i) UNROLLED for (int side = 0; side <= MIRRORED_##i; side++)
#define EACH_SLOT(i)                                                \
    UNROLLED for (int slot = side * SLOTS(i) / (1 + MIRRORED_##i);  \
                  slot < (side + 1) * SLOTS(i) / (1 + MIRRORED_##i); slot++)
#define SLOTS(i) (OWN_MIRROR && MIRRORED_##i ? 2 : CARRIED)
#define OF(slot) (OWN_MIRROR ? 0 : (slot))  // the sequence in a slot
#define BUTTERFLY(i) (side ? OPPOSITE(i) : PIECE)
#define OPPOSITE(i) (PIECE ? BUTTERFLIES(i) - PIECE : 0)

// The values of a butterfly, which are in registers.
#define EACH_VALUE(i, first) \
    __attribute__((opencl_unroll_hint(RADIX_##i))) for (int k = first; k < RADIX_##i; k++)
#define EACH_CARRIED UNROLLED for (int slot = 0; slot < CARRIED; slot++)
#define INDEX(i, slot, k) ((slot) * (OWN_MIRROR && MIRRORED_##i ? RADIX_##i : MOST) + INDEX_OF_PIECE(i) + (k))
#define KEPT(i, slot, k) x[INDEX(i, slot, k)]
#ifdef PITCH  // h: the transfer function's values
#define REGISTERS cplx x[CARRIED * MOST], h[CARRIED * MOST];
#else
#define REGISTERS cplx x[CARRIED * MOST];
#endif

// -- places in local memory -------------------------------------------------------------------------------------------

#define SEQUENCE_PLACES (POINTS + PAD * POINTS / LAST_STRIDE)
#ifdef ALONG
#define SPACING 1
#else
#define SPACING GROUP_COLUMNS
#endif

static inline uint padded(uint place) {
    return (place + (PAD ? place / LAST_STRIDE : 0)) * SPACING;
}

// The place of the first element of butterfly t.
#define FIRST(i, t) \
    (i == LAST ? t : i == 0 ? REVERSED(t) : t / STRIDE_##i * (STRIDE_##i * RADIX_##i) + t % STRIDE_##i)

// From there, the distance to value k of the sequence in a slot.
#define DISTANCE(i, slot, k)                                 \
    (((k) * (STRIDE_##i + (i == LAST ? PAD : 0)) +           \
      (OWN_MIRROR ? 0 : (slot) + (side ? LOADED - CARRIED : 0)) * SEQUENCE_PLACES) * SPACING)
#define SET_DISTANCE(i) ((side ? -set : set) * (MIRRORED_##i ? CARRIED / 2 : CARRIED) * SEQUENCE_PLACES)

// -- steps ------------------------------------------------------------------------------------------------------------

#define LOAD(i)                                                   \
    EACH_SIDE(i) EACH_SLOT(i) EACH_VALUE(i, 0) KEPT(i, slot, k) = \
        take(in, factors, v[OF(slot)], BUTTERFLY(i) + k * BUTTERFLIES(i), s);

#define STORE(i)                                    \
    EACH_SIDE(i) EACH_SLOT(i) EACH_VALUE(i, 0)      \
        give(out, factors, roots, v[OF(slot)], BUTTERFLY(i) + k * BUTTERFLIES(i), KEPT(i, slot, k), s COUNTED);

// From and to local memory: whole values, or a `part` of each.
#define GET(i, part)                                                                             \
    EACH_SIDE(i) {                                                                               \
        __local const moved *at = memory + own + padded(FIRST(i, BUTTERFLY(i))) + SET_DISTANCE(i);       \
        EACH_SLOT(i) EACH_VALUE(i, 0) KEPT(i, slot, k) part = at[DISTANCE(i, slot, k)];          \
    }

#define PUT(i, part)                                                                             \
    EACH_SIDE(i) {                                                                               \
        __local moved *at = memory + own + padded(FIRST(i, BUTTERFLY(i))) + SET_DISTANCE(i);             \
        EACH_SLOT(i) EACH_VALUE(i, 0) at[DISTANCE(i, slot, k)] = KEPT(i, slot, k) part;          \
    }

#ifdef COMPUTED
#define TWIDDLE_OF(i, k, q) root((k) * (q), STRIDE_##i * RADIX_##i)
#else
#define TWIDDLE_OF(i, k, q) tables[(q) + (k) * STRIDE_##i - 1]
#endif
// Times exp(−2πi·k·q / (stride·radix)).
#define TWIDDLE(i)                                                                    \
    EACH_SIDE(i) {                                                                    \
        const uint q = i == LAST ? BUTTERFLY(i) : BUTTERFLY(i) % STRIDE_##i;          \
        EACH_VALUE(i, 1) {                                                            \
            const real2 w = TWIDDLE_OF(i, k, q);                                      \
            EACH_SLOT(i) KEPT(i, slot, k) = times(KEPT(i, slot, k), w);               \
        }                                                                             \
    }

#define DFT(i) UNROLLED for (int slot = 0; slot < SLOTS(i); slot++) GLUE(dft, RADIX_##i)(&KEPT(i, slot, 0));

// Between Bluestein's two transforms, the second of which is an inverse: times the filter, which is behind the twiddles.
#define FILTER(i)                                           \
    EACH_SIDE(i) EACH_SLOT(i) EACH_VALUE(i, 0) KEPT(i, slot, k) = \
        swapped(times(KEPT(i, slot, k), tables[PIECE + POINTS + k * BUTTERFLIES(i)]));

// Transforms across the joined sequences, with turns in front of them or behind them.
#define JOIN(i, before, behind)                                                                             \
    UNROLLED for (int first = 0; first < CARRIED; first += JOINED)                                          \
        UNROLLED for (int k = 0; k < RADIX_##i; k++) {                                                      \
            cplx y[JOINED];                                                                                 \
            UNROLLED for (int q = 0; q < JOINED; q++) {                                                     \
                y[q] = KEPT(i, first + q, k);                                                               \
                if (before && q) y[q] = times(y[q], turn[first + q]);                                       \
            }                                                                                               \
            GLUE(dft, JOINED)(y);                                                                           \
            UNROLLED for (int q = 0; q < JOINED; q++)                                                       \
                KEPT(i, first + q, k) = behind && q ? times(y[q], turn[first + q]) : y[q];                  \
        }
