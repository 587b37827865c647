// Steps of fft_local.cl at the spectrum's end of transforms of real numbers, two neighbours of which are one complex value.
//
// The mathematics is in fft.cl. A piece of the last stage, or of the first one on the way back, is butterfly t of some
// sequences and −t of as many others, which are their mirror images: q of one meets −q of the other in one work-item.
// The sequence in the first slot meets that in the last one, the second that before the last one, and so on.
//
// -D OWN_MIRROR=0|1    1 where a single sequence is its own mirror image
// -D WHOLE=0|1         1 where all of the spectrum is stored, not half of it
// half_turn(v, k), which stands before this, is exp(−2πi·k / (2·radix)) · v.

#define EACH_PAIR(i) UNROLLED for (int pair = 0; pair < SLOTS(i) / 2; pair++) EACH_VALUE(i, 0)
#define OTHER_SLOT(i) (SLOTS(i) - 1 - pair)
#define AT_Q(i) INDEX(i, pair, k)
#define AT_MINUS_Q(i) INDEX(i, OTHER_SLOT(i), RADIX_##i - 1 - k)
#define Q(i) (PIECE + k * BUTTERFLIES(i))

// Where the sequence of a pair and its mirror image have their spectrum.
#if SETS > 1
#define SPECTRUM w
#else
#define SPECTRUM v
#endif
#define ONE SPECTRUM[OF(pair)]
#define OTHER(i) SPECTRUM[OF(OTHER_SLOT(i))]

// w_N^q · value. As q = t + k·butterflies, only w_N^t is read, and the power of w_2r is compiled in.
#define TIMES_ROOT(i, value) half_turn(times(value, root_of_t), k)
#define READ_ROOT const real2 root_of_t = tables[PIECE + POINTS];

// Butterfly 0 is its own mirror image, where −q is one place further on: moves the other's values one place to the front.
#define ROTATE(i)                                                                             \
    if (PIECE == 0) UNROLLED for (int slot = SLOTS(i) / 2; slot < SLOTS(i); slot++) {         \
        const cplx y = KEPT(i, slot, 0);                                                      \
        EACH_VALUE(i, 1) KEPT(i, slot, k - 1) = KEPT(i, slot, k);                             \
        KEPT(i, slot, RADIX_##i - 1) = y;                                                     \
    }
#define ROTATE_BACK(i)                                                                        \
    if (PIECE == 0) UNROLLED for (int slot = SLOTS(i) / 2; slot < SLOTS(i); slot++) {         \
        const cplx y = KEPT(i, slot, RADIX_##i - 1);                                          \
        EACH_VALUE(i, 1) KEPT(i, slot, RADIX_##i - k) = KEPT(i, slot, RADIX_##i - k - 1);     \
        KEPT(i, slot, 0) = y;                                                                 \
    }

// Stores X[k, q] and conj X[k, q + M] = X[−k, M − q]; at q = 0 both belong to the half spectrum of row k and to that of −k.
#define GIVE(where, q, value) give(out, factors, roots, where, q, value, s COUNTED);
#define UNPACK(i)                                                                             \
    {                                                                                         \
        READ_ROOT                                                                             \
        ROTATE(i)                                                                             \
        EACH_PAIR(i) {                                                                        \
            const cplx e = x[AT_Q(i)] + conjugate(x[AT_MINUS_Q(i)]),                          \
                       o = TIMES_ROOT(i, turned(x[AT_Q(i)] - conjugate(x[AT_MINUS_Q(i)])));   \
            GIVE(ONE, Q(i), e + o)                                                            \
            GIVE(OTHER(i), POINTS - Q(i), conjugate(e - o))                                   \
            if (WHOLE || (k == 0 && PIECE == 0)) {                                            \
                GIVE(ONE, Q(i) + POINTS, e - o)                                               \
                if (!OWN_MIRROR) GIVE(OTHER(i), Q(i) ? 2 * POINTS - Q(i) : 0, conjugate(e + o)) \
            }                                                                                 \
        }                                                                                     \
    }

// Makes E + i·O of a row and of its mirror image from p = X[k, q] and m = X[k, q + M], all with real and imaginary parts
// swapped.
#define KEEP_PACKED(i)                                                                        \
    const cplx e = p + m, o = TIMES_ROOT(i, turned(p - m));                                   \
    x[AT_Q(i)] = e + o;                                                                       \
    x[AT_MINUS_Q(i)] = reflected(e - o);

// Loads X[k, q] and X[−k, M − q] and packs them. At q = 0 and M the two rows' values are of the same column: those that
// must be conjugate are made so, as if a transform of the columns had given real numbers.
#define TAKE(where, q) take(in, factors, where, q, s)
#define LOAD_PACKED(i)                                                                        \
    {                                                                                         \
        READ_ROOT                                                                             \
        EACH_PAIR(i) {                                                                        \
            cplx p = TAKE(ONE, Q(i)), m = reflected(TAKE(OTHER(i), POINTS - Q(i)));           \
            if (k == 0 && PIECE == 0) {                                                       \
                p = (p - conjugate(TAKE(OTHER(i), 0))) * (real)0.5f;                          \
                m = (m + TAKE(ONE, POINTS)) * (real)0.5f;                                     \
            }                                                                                 \
            KEEP_PACKED(i)                                                                    \
        }                                                                                     \
        ROTATE_BACK(i)                                                                        \
    }

// Reads the transfer function's values into h, at the indices that the spectrum's will have in x.
#define READ_TRANSFER(i)                                                                      \
    EACH_PAIR(i) {                                                                            \
        h[AT_Q(i)] = transfer(factors, ONE, Q(i), s);                                         \
        h[AT_MINUS_Q(i)] = transfer(factors, OTHER(i), POINTS - Q(i), s);                     \
    }

// Multiplies the spectrum by it and goes back to E + i·O, swapped, as the way back is an inverse.
#define MULTIPLY(i)                                                                           \
    {                                                                                         \
        READ_ROOT                                                                             \
        ROTATE(i)                                                                             \
        EACH_PAIR(i) {                                                                        \
            const cplx f = x[AT_Q(i)] + conjugate(x[AT_MINUS_Q(i)]),                          \
                       g = TIMES_ROOT(i, turned(x[AT_Q(i)] - conjugate(x[AT_MINUS_Q(i)])));   \
            const cplx p = swapped(product(f + g, h[AT_Q(i)])),                               \
                       m = swapped(product(f - g, conjugate(h[AT_MINUS_Q(i)])));              \
            KEEP_PACKED(i)                                                                    \
        }                                                                                     \
        ROTATE_BACK(i)                                                                        \
    }
