// One axis of an image in another size:  out[i] = Σ_k weights[k, i] · in[first(i) + k],  k = 0 … count(i) − 1, by tables of
// gpuops/filters/resampling.py: spans[i] = (first, count), which never decrease from result to result, and weights, tap by
// tap, so that neighbours load neighbours.
// Planes are seen as (outer, n, inner), as in separable.cl; `from` and `to` are the first elements of those to read and write.
//
// A group owns some results of each of its columns. It walks over the samples of all of them, `chunk` at a time in local
// memory; the sums of each chunk are summed again, so that rounding grows slower.
//
// -D ROWS for inner = 1 (otherwise columns)
// Local: (results, 1) for rows; (columns, results, 1) for columns, dimension 0 along the row so that accesses join. Global:
// as local, then the outer index. tile: chunk · columns floats. CPUs: resize_wide.cl.

__kernel void resize(__global const float *in, __global const int2 *spans, __global const float *weights,
                     __global float *out, ulong from, ulong to, int n, int results, int inner, int chunk,
                     __local float *tile) {
#ifdef ROWS
    int t = get_local_id(0), items = get_local_size(0), i = get_global_id(0), i0 = get_group_id(0) * items;
    int column = 0, columns = 1, c = 0, o = get_global_id(1);
#else
    int t = get_local_id(1), items = get_local_size(1), i = get_global_id(1), i0 = get_group_id(1) * items;
    int column = get_local_id(0), columns = get_local_size(0), c = get_global_id(0), o = get_global_id(2);
#endif
    int2 own = spans[min(i, results - 1)], last = spans[min(i0 + items, results) - 1];
    int end = last.x + last.y, valid = i < results && c < inner;
    in += from + (size_t)o * n * inner + min(c, inner - 1);
    weights += min(i, results - 1);
    float sum = 0.0f;
    for (int j = spans[i0].x; j < end; j += chunk) {
        int count = min(chunk, end - j);
        for (int k = t; k < count; k += items) tile[k * columns + column] = in[(size_t)(j + k) * inner];
        barrier(CLK_LOCAL_MEM_FENCE);
        float part = 0.0f;
        for (int k = max(own.x, j); k < min(own.x + own.y, j + count); k++)
            part = fma(weights[(size_t)(k - own.x) * results], tile[(k - j) * columns + column], part);
        sum += part;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (valid) out[to + ((size_t)o * results + i) * inner + c] = sum;
}
