// take fetches eight pixels, for the vectors of a CPU, from planes or a file's pixels as if all were one row; light_of
// converts them to light. take_quads.cl does the same for GPUs. The file stands after lanes.cl (WIDTH 8) and colour.cl.
//
// -D PIXEL=type, HALF, TABLE, LINEARISE, ENCODE, UNSCALED, PREMULTIPLY, CHANNELS=n and COLOURS=n are as in decode.cl;
// without PIXEL the input is planar. -D STAGES is as in take_quads.cl.

#define TAKEN 8
#define VECTORS 1

#ifndef PIXEL
typedef float STORED;

typedef struct {
    FLOAT v[CHANNELS];
} Taken;

static inline Taken take(__global const STORED *in, uint first, uint size) {
    Taken taken;
    int count = (int)min(size - first, 8u);
    UNROLLED
    for (int c = 0; c < CHANNELS; c++) taken.v[c] = load(in + (size_t)c * size + first, count);
    return taken;
}

static inline void decoded(Taken taken, __global const float *table, float scale, FLOAT v[CHANNELS]) {
    UNROLLED
    for (int c = 0; c < CHANNELS; c++) v[c] = taken.v[c];
}

#else
#define STORED_8(type) STORED_8_(type)
#define STORED_8_(type) type##8
typedef PIXEL STORED;
typedef STORED_8(PIXEL) Stored;

typedef struct {
    Stored v[CHANNELS];
} Taken;

// Gathers each channel from whole vectors: single elements would take twice the time of the arithmetic.
static inline Taken take(__global const STORED *in, uint first, uint size) {
    Stored in_turn[4];  // as they stand in memory
    in += (size_t)first * CHANNELS;
    if (size - first >= 8) {
        UNROLLED
        for (int k = 0; k < CHANNELS; k++) in_turn[k] = vload8(k, in);
    } else {
        STORED rest[8 * CHANNELS];
        int last = (int)(size - first) - 1;
        for (int k = 0; k < 8 * CHANNELS; k++) rest[k] = in[min(k / CHANNELS, last) * CHANNELS + k % CHANNELS];
        UNROLLED
        for (int k = 0; k < CHANNELS; k++) in_turn[k] = vload8(k, rest);
    }
    Stored a = in_turn[0], b = in_turn[1], c = in_turn[2], d = in_turn[3];
    Taken taken;
#if CHANNELS == 1
    taken.v[0] = a;
#elif CHANNELS == 2
    taken.v[0] = (Stored)(a.even, b.even);
    taken.v[1] = (Stored)(a.odd, b.odd);
#elif CHANNELS == 3
    taken.v[0] = (Stored)(a.s036, b.s147, c.s25);
    taken.v[1] = (Stored)(a.s147, b.s25, c.s036);
    taken.v[2] = (Stored)(a.s25, b.s036, c.s147);
#else
    taken.v[0] = (Stored)(a.s04, b.s04, c.s04, d.s04);
    taken.v[1] = (Stored)(a.s15, b.s15, c.s15, d.s15);
    taken.v[2] = (Stored)(a.s26, b.s26, c.s26, d.s26);
    taken.v[3] = (Stored)(a.s37, b.s37, c.s37, d.s37);
#endif
    return taken;
}

static inline FLOAT light_of_channel(Stored stored, int colour, __global const float *table, float scale) {
    FLOAT v;
#ifdef TABLE
    if (colour)  // through an array Intel's compiler takes three times as long
        return (FLOAT)(table[stored.s0], table[stored.s1], table[stored.s2], table[stored.s3], table[stored.s4],
                       table[stored.s5], table[stored.s6], table[stored.s7]);
#endif
#ifdef HALF
    v = vload_half8(0, (const half *)&stored);
#else
    v = TO_FLOAT(stored);
#endif
#ifndef UNSCALED
    v *= scale;
#endif
#if defined(LINEARISE)
    if (colour) v = srgb_to_linear(v);
#elif defined(ENCODE)
    if (colour) v = linear_to_srgb(v);
#endif
    return v;
}

static inline void decoded(Taken taken, __global const float *table, float scale, FLOAT v[CHANNELS]) {
    for (int c = 0; c < CHANNELS; c++) v[c] = light_of_channel(taken.v[c], c < COLOURS, table, scale);
#ifdef PREMULTIPLY
    for (int c = 0; c < COLOURS; c++) v[c] *= v[CHANNELS - 1];
#endif
}
#endif

static inline void light_of(Taken taken, __global const float *table, float scale, Numbers numbers,
                            FLOAT v[VECTORS][CHANNELS]) {
    decoded(taken, table, scale, v[0]);
#ifdef STAGES
    staged(v[0], numbers);
#endif
}

#define COUNT_IN(k, first, size) ((int)min((size) - (first), 8u))
#define PLACE_OF(k, first) (first)
