// One lifting step as a kernel of its own, in place: the step of Ikuzawa, Ino and Hagihara, on halves that dwt_chunks.cl has
// put apart. It reads of the half that it changes nothing but the sample that it replaces, so that no neighbour is ever
// overwritten.
//
//   image[to + k] = to_scale · (from_scale · image[to + k] + other_scale · Σ_j weights[j] image[other + k + first + j])
//   whole numbers:  image[to + k] = image[to + k] ± ((Σ + rounding) >> shift)
//
// `to` and `other` are the first rows, with -D ROWS the first columns, of the half that changes and of the other one, in
// planes of (height, width).
// BORDER_MIRROR: position 2k + parity of the other half is mirrored in n samples. Otherwise border.cl on its count.
// -D S=float|int   -D S16: 16 of them   -D TAPS: how many weights   -D WIDTH=1|16 neighbours of a row that a work-item takes
// Global: (across / WIDTH, targets, planes), with ROWS (targets / WIDTH, across, planes). Any group size.

#if WIDTH > 1
typedef S16 V;
#else
typedef S V;
#endif

// Where sample k of a half is that begins at `start`.
static inline size_t place(int start, int k, int across, size_t plane, int2 size) {
#ifdef ROWS
    return (plane * size.x + across) * size.y + start + k;
#else
    return (plane * size.x + start + k) * size.y + across;
#endif
}

// WIDTH neighbours.
static inline V take(__global const S *p) {
#if WIDTH == 1
    return *p;
#else
    return vload16(0, p);
#endif
}

static inline void give(V v, __global S *p) {
#if WIDTH == 1
    *p = v;
#else
    vstore16(v, 0, p);
#endif
}

#ifdef INTEGER
#define RESULT(old, sum) (subtract ? (old) - (((sum) + rounding) >> shift) : (old) + (((sum) + rounding) >> shift))
#else
#define RESULT(old, sum) (to_scale * (from_scale * (old) + other_scale * (sum)))
#endif

__kernel void lifting_step(__global S *image, int planes, int2 size, int across, int n, int targets, int others, int to,
                           int other, S16 weights, int first, int target_is_odd, float from_scale, float other_scale,
                           float to_scale, int rounding, int shift, int subtract) {
#ifdef ROWS
    int k = get_global_id(0) * WIDTH, a = get_global_id(1);
    const int next = k + WIDTH, a_next = a + 1, stride = 1;
#else
    int k = get_global_id(1), a = get_global_id(0) * WIDTH;
    const int next = k + 1, a_next = a + WIDTH, stride = size.y;
#endif
    const size_t plane = get_global_id(2);
    if (plane >= (size_t)planes) return;
    S w[16];
    vstore16(weights, 0, w);
    if (k + first >= 0 && next + first + TAPS <= others && next < targets && a_next <= across) {
        __global const S *neighbours = image + place(other, k + first, a, plane, size);
        __global S *target = image + place(to, k, a, plane, size);
        V sum = 0;
#pragma unroll
        for (int j = 0; j < TAPS; j++) sum += w[j] * take(neighbours + j * (size_t)stride);
        const V old = take(target);
        give(RESULT(old, sum), target);
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
            if (i >= 0) sum += w[j] * image[place(other, i, a, plane, size)];
        }
        __global S *target = image + place(to, k, a, plane, size);
        const S old = *target;
        *target = RESULT(old, sum);
#ifdef ROWS
        k++;
#else
        a++;
#endif
    }
}
