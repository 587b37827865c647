// pywt.threshold's ways to shrink coefficients, planes (planes, size), by a plane's threshold t: what does not exceed it
// becomes `substitute`.
//   soft     towards zero by t                             garrote  x − t²/x (H.-Y. Gao, J. Comput. Graph. Stat. 7, 1998)
//   hard     as it is                                      greater, less: as it is, unless it is less (more) than t
// After lanes.cl: a work-item takes WIDTH neighbours. Global: (size / WIDTH, planes), any group size.

static inline FLOAT soft(FLOAT v, float t, INT *goes) {
    *goes = fabs(v) < t;
    return copysign(fabs(v) - t, v);
}

static inline FLOAT hard(FLOAT v, float t, INT *goes) {
    *goes = fabs(v) < t;
    return v;
}

static inline FLOAT garrote(FLOAT v, float t, INT *goes) {
    const FLOAT ratio = t / fabs(v);
    *goes = fabs(v) < t;
    return select(v * (1.0f - ratio) * (1.0f + ratio), (FLOAT)0.0f, fabs(v) == t);  // 0/0 is no number
}

static inline FLOAT greater(FLOAT v, float t, INT *goes) {
    *goes = v < t;
    return v;
}

static inline FLOAT less(FLOAT v, float t, INT *goes) {
    *goes = v > t;
    return v;
}

__kernel void shrink(__global const float *in, __global const float *thresholds, __global float *out, int planes,
                     int size, int how, float substitute) {
    const size_t plane = get_global_id(1), i = get_global_id(0) * WIDTH;
    if (i >= (size_t)size || plane >= (size_t)planes) return;
    const int count = (int)min((size_t)size - i, (size_t)WIDTH);
    const float t = thresholds[plane];
    const FLOAT v = load(in + plane * size + i, count);
    FLOAT shrunk = v;
    INT goes = 0;
    switch (how) {
        case 0: shrunk = soft(v, t, &goes); break;
        case 1: shrunk = hard(v, t, &goes); break;
        case 2: shrunk = garrote(v, t, &goes); break;
        case 3: shrunk = greater(v, t, &goes); break;
        case 4: shrunk = less(v, t, &goes); break;
    }
    store(select(shrunk, (FLOAT)substitute, goes), out + plane * size + i, count);
}
