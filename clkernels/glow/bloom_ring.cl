// Resamples rows that wrap around, from `from` to `to` samples: sample x is the mean over x · from / to …
// (x + 1) · from / to. A row keeps its mean, and constants stay constant.
// Planes are float; dimension 1 counts the rows of all planes. Groups may have any size.

__kernel void ring(__global const float *in, __global float *out, int rows, int from, int to) {
    int x = get_global_id(0), row = get_global_id(1);
    if (x >= to || row >= rows) return;
    // The unit is such that a sample of `in` is `to` units long, and one of `out` is `from` units long.
    ulong begin = (ulong)x * (ulong)from, end = begin + (ulong)from;
    int first = begin / (ulong)to, last = (end - 1) / (ulong)to;
    float sum = 0.0f;
    in += (size_t)row * from;
    for (int k = first; k <= last; k++) {
        ulong low = max(begin, (ulong)k * (ulong)to), high = min(end, (ulong)(k + 1) * (ulong)to);
        sum = fma((float)(high - low) / (float)from, in[k], sum);
    }
    out[(size_t)row * to + x] = sum;
}
