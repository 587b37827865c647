// pywt.threshold's ways to shrink coefficients, planes (planes, size), by a plane's threshold t: what does not exceed it
// becomes `substitute`.
//   soft     towards zero by t                             garrote  x − t²/x (H.-Y. Gao, J. Comput. Graph. Stat. 7, 1998)
//   hard     as it is                                      greater, less: as it is, unless it is less (more) than t
// S, V, WIDTH: dwt_extension.cl, which stands before this. A work-item takes WIDTH neighbours. Global: (size / WIDTH,
// planes), any group size.

__kernel void shrink(__global const S *in, __global const S *thresholds, __global S *out, int planes, int size, int how,
                     S substitute) {
    const size_t plane = get_global_id(1), i = get_global_id(0) * WIDTH;
    if (i >= (size_t)size || plane >= (size_t)planes) return;
    const int count = (int)min((size_t)size - i, (size_t)WIDTH);
    const V t = thresholds[plane], other = substitute, v = load_some(in + plane * size + i, count);
    const V magnitude = fabs(v), ratio = t / magnitude;
    V shrunk = v;
    if (how == 0) shrunk = copysign(magnitude - t, v);
    if (how == 2) shrunk = magnitude == t ? (V)0 : v * (1 - ratio) * (1 + ratio);  // 0/0 is no number
    if (how == 3) shrunk = v < t ? other : v;
    else if (how == 4) shrunk = v > t ? other : v;
    else shrunk = magnitude < t ? other : shrunk;
    store_some(shrunk, out + plane * size + i, count);
}
