// One lifting step as a kernel of its own. Out of place it is the method of van der Laan, Jalba and Roerdink, IEEE TPDS
// 22 (2011). In place, on halves that dwt_chunks.cl has put apart, it is that of Ikuzawa, Ino and Hagihara: a step reads
// of the half that it changes nothing but the sample that it replaces, so that no neighbour is ever overwritten.
//
//   to[k] = to_scale · (from_scale · from[k] + other_scale · Σ_j weights[j] other[k + first + j])
//   whole numbers:  to[k] = from[k] ± ((Σ + rounding) >> shift)
//
// `from` and `to` hold the half that changes, `other` the half it is computed from. A half is (height, width, spacing,
// phase): of planes (height, width), the rows, with -D ROWS the columns, k · spacing + phase, at most the last of all; so
// the even samples of a signal are a half with spacing 2 and phase 0. The minimum repeats the last sample of an odd length
// under periodization.
// BORDER_MIRROR: position 2k + parity of the other half is mirrored in n samples. Otherwise border.cl on its count.
// -D S=float|int   -D S16: 16 of them   -D TAPS: how many weights   -D WIDTH=1|16 neighbours of a row that a work-item takes
// Global: (across / WIDTH, targets, planes), with ROWS (targets / WIDTH, across, planes). Any group size.

#if WIDTH > 1
typedef S16 V;
#else
typedef S V;
#endif

// Where sample k of a half is, and how far from it sample k + 1, where both exist.
static inline size_t place(int4 part, int k, int across, size_t plane) {
#ifdef ROWS
    return (plane * part.x + across) * part.y + k * part.z + part.w;
#else
    return (plane * part.x + k * part.z + part.w) * part.y + across;
#endif
}

static inline int stride(int4 part) {
#ifdef ROWS
    return part.z;
#else
    return part.z * part.y;
#endif
}

static inline size_t clamped(int4 part, int k, int across, size_t plane) {
#ifdef ROWS
    const int last = part.y - 1;
#else
    const int last = part.x - 1;
#endif
    return place((int4)(part.xy, 1, 0), min(k * part.z + part.w, last), across, plane);
}

// WIDTH neighbours, `spacing` apart.
static inline V take(__global const S *p, int spacing) {
#if WIDTH == 1
    return *p;
#else
    if (spacing == 1) return vload16(0, p);
    S s[WIDTH];  // not those between, which other work-items may be writing
    for (int i = 0; i < WIDTH; i++) s[i] = p[i * spacing];
    return vload16(0, s);
#endif
}

static inline void give(V v, __global S *p, int spacing) {
#if WIDTH == 1
    *p = v;
#else
    S s[WIDTH];
    vstore16(v, 0, s);
    if (spacing == 1)
        vstore16(v, 0, p);
    else
        for (int i = 0; i < WIDTH; i++) p[i * spacing] = s[i];
#endif
}

#ifdef INTEGER
#define RESULT(old, sum) (subtract ? (old) - (((sum) + rounding) >> shift) : (old) + (((sum) + rounding) >> shift))
#else
#define RESULT(old, sum) (to_scale * (from_scale * (old) + other_scale * (sum)))
#endif

__kernel void lifting_step(__global const S *from, __global const S *other, __global S *to, int planes, int across,
                           int n, int targets, int others, int4 from_half, int4 other_half, int4 to_half, S16 weights,
                           int first, int target_is_odd, float from_scale, float other_scale, float to_scale,
                           int rounding, int shift, int subtract) {
#ifdef ROWS
    int k = get_global_id(0) * WIDTH, a = get_global_id(1);
    const int next = k + WIDTH, a_next = a + 1;
    const int from_spacing = from_half.z, other_spacing = other_half.z, to_spacing = to_half.z;
#else
    int k = get_global_id(1), a = get_global_id(0) * WIDTH;
    const int next = k + 1, a_next = a + WIDTH;
    const int from_spacing = 1, other_spacing = 1, to_spacing = 1;
#endif
    const size_t plane = get_global_id(2);
    if (plane >= (size_t)planes) return;
    S w[16];
    vstore16(weights, 0, w);
    if (k + first >= 0 && next + first + TAPS <= others && next < targets && a_next <= across) {
        __global const S *neighbours = other + place(other_half, k + first, a, plane);
        V sum = 0;
#pragma unroll
        for (int j = 0; j < TAPS; j++) sum += w[j] * take(neighbours + j * (size_t)stride(other_half), other_spacing);
        const V old = take(from + place(from_half, k, a, plane), from_spacing);
        give(RESULT(old, sum), to + place(to_half, k, a, plane), to_spacing);
        return;
    }
    while (k < min(next, targets) && a < min(a_next, across)) {
        S sum = 0;
#pragma unroll
        for (int j = 0; j < TAPS; j++) {
#ifdef BORDER_MIRROR
            const int position = border_index(2 * (k + first + j) + !target_is_odd, n);
            const int i = (position & 1) == !target_is_odd ? position >> 1 : -1;
#else
            const int i = border_index(k + first + j, others);
#endif
            if (i >= 0) sum += w[j] * other[clamped(other_half, i, a, plane)];
        }
        const S old = from[clamped(from_half, k, a, plane)];
        // Of an odd length's last pair under periodization only the even sample is written to the signal.
#ifdef ROWS
        if (k * to_half.z + to_half.w < to_half.y) to[place(to_half, k, a, plane)] = RESULT(old, sum);
        k++;
#else
        if (k * to_half.z + to_half.w < to_half.x) to[place(to_half, k, a, plane)] = RESULT(old, sum);
        a++;
#endif
    }
}
