// One lifting step as a kernel of its own. Out of place it is the method of van der Laan, Jalba and Roerdink, IEEE TPDS
// 22 (2011). In place, on halves that dwt_chunks.cl has put apart, it is that of Ikuzawa, Ino and Hagihara: a step reads
// of the half that it changes nothing but the sample that it replaces, so that no neighbour is ever overwritten.
//
//   to[k] = to_scale · (from_scale · from[k] + other_scale · Σ_j weights[j] other[k + first + j])
//   whole numbers:  to[k] = from[k] ± ((Σ + rounding) >> shift)
//
// `from` and `to` hold the half that changes, `other` the half it is computed from. A half is (height, width, spacing,
// phase): of planes (height, width), the rows, with -D ROWS the columns, k · spacing + phase, at most the last of all; so the
// even samples of a signal are a half with spacing 2 and phase 0. The minimum repeats the last sample of an odd length
// under periodization.
// BORDER_MIRROR: position 2k + parity of the other half is mirrored in n samples. Otherwise border.cl on its count.
// -D TAPS: how many weights.  Global: (across, targets, planes), with ROWS (targets, across, planes). Any group size.

static inline size_t place(int4 part, int k, int across, size_t plane) {
#ifdef ROWS
    return (plane * part.x + across) * part.y + min(k * part.z + part.w, part.y - 1);
#else
    return (plane * part.x + min(k * part.z + part.w, part.x - 1)) * part.y + across;
#endif
}

__kernel void lifting_step(__global const S *from, __global const S *other, __global S *to, int planes, int across, int n,
                           int targets, int others, int4 from_half, int4 other_half, int4 to_half, S16 weights,
                           int first, int target_is_odd, float from_scale, float other_scale, float to_scale,
                           int rounding, int shift, int subtract) {
#ifdef ROWS
    const int k = get_global_id(0), a = get_global_id(1), last = to_half.y - 1;
#else
    const int k = get_global_id(1), a = get_global_id(0), last = to_half.x - 1;
#endif
    const size_t plane = get_global_id(2);
    if (k >= targets || a >= across || plane >= (size_t)planes) return;
    S w[16];
    vstore16(weights, 0, w);
    S sum = 0;
    if (k + first >= 0 && k + first + TAPS <= others) {
#pragma unroll
        for (int j = 0; j < TAPS; j++) sum += w[j] * other[place(other_half, k + first + j, a, plane)];
    } else {
        for (int j = 0; j < TAPS; j++) {
#ifdef BORDER_MIRROR
            const int position = border_index(2 * (k + first + j) + !target_is_odd, n);
            const int i = (position & 1) == !target_is_odd ? position >> 1 : -1;
#else
            const int i = border_index(k + first + j, others);
#endif
            if (i >= 0) sum += w[j] * other[place(other_half, i, a, plane)];
        }
    }
    const S old = from[place(from_half, k, a, plane)];
#ifdef INTEGER
    sum = (sum + rounding) >> shift;
    const S result = subtract ? old - sum : old + sum;
#else
    const S result = to_scale * (from_scale * old + other_scale * sum);
#endif
    // Of an odd length's last pair under periodization only the even sample is written to the signal.
    if (k * to_half.z + to_half.w <= last) to[place(to_half, k, a, plane)] = result;
}
