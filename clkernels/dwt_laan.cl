// One lifting step as a kernel of its own, out of place, low and high halves in arrays of their own: the method of
// van der Laan, Jalba and Roerdink, IEEE TPDS 22 (2011).
//
//   to[k] = to_scale · (from_scale · from[k] + other_scale · Σ_j weights[j] other[k + first + j])
//   whole numbers:  to[k] = from[k] ± ((Σ + rounding) >> shift)
//
// `from` and `to` hold the half that changes, `other` the half it is computed from. A half lies in an array of
// planes (outer, layout.length, inner): its element k at position min(k · layout.spacing + layout.phase, length − 1)
// along the axis; so the even samples of a signal are a half with spacing 2 and phase 0. The minimum repeats the last
// sample of an odd length under periodization.
// BORDER_MIRROR: position 2k + parity of the other half is mirrored in n samples. Otherwise border.cl on its count.
// One work-item an element, one dimension, any group size.

static inline size_t place(int4 layout, int k, size_t line, int inner, size_t lane) {
    return (line * layout.x + min(k * layout.y + layout.z, layout.x - 1)) * inner + lane;
}

__kernel void lifting_step(__global const S *from, __global const S *other, __global S *to, int outer, int inner,
                           int n, int targets, int others, int4 from_layout, int4 other_layout, int4 to_layout,
                           S4 weights, int first, int taps, int target_is_odd, float from_scale, float other_scale,
                           float to_scale, int rounding, int shift, int subtract) {
    size_t id = get_global_id(0);
    if (id >= (size_t)outer * targets * inner) return;
    const size_t lane = id % inner;
    id /= inner;
    const int k = id % targets;
    const size_t line = id / targets;
    const S w[4] = {weights.x, weights.y, weights.z, weights.w};
    S sum = 0;
    for (int j = 0; j < taps; j++) {
#ifdef BORDER_MIRROR
        const int position = border_index(2 * (k + first + j) + !target_is_odd, n);
        const int i = (position & 1) == !target_is_odd ? position >> 1 : -1;
#else
        const int i = border_index(k + first + j, others);
#endif
        if (i >= 0) sum += w[j] * other[place(other_layout, i, line, inner, lane)];
    }
    const S old = from[place(from_layout, k, line, inner, lane)];
#ifdef INTEGER
    sum = (sum + rounding) >> shift;
    const S result = subtract ? old - sum : old + sum;
#else
    const S result = to_scale * (from_scale * old + other_scale * sum);
#endif
    // Of an odd length's last pair under periodization only the even sample is written to the signal.
    if (k * to_layout.y + to_layout.z < to_layout.x) to[place(to_layout, k, line, inner, lane)] = result;
}
