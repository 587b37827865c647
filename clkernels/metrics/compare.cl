// How far two arrays of values differ, by the errors and sums of sums.cl, which stands before this file.

static inline float4 error4_of(float4 a, float4 b) {  // error_of, four at a time
    float4 d = fabs(a - b);
    d = select(d, (float4)INFINITY, isnan(d));
    return select(d, (float4)0.0f, isequal(a, b) | (isnan(a) & isnan(b)));
}

// Gives Σ (scale · (a − b))² as two floats, max |a − b|, and the number of the n values that differ, as the bits of one
// uint4 a group. Local: (256) or a smaller power of two. Global: any number of groups, whose items stride by fours.
__kernel void differences(__global const float *a, __global const float *b, __global uint4 *partial, ulong n,
                          float scale, __local float2 *sums, __local float *most, __local uint *counts) {
    size_t stride = get_global_size(0);
    int item = get_local_id(0);
    float4 sum = 0.0f, lost = 0.0f, worst = 0.0f;  // each lane takes every fourth value, as `add` does
    int4 count = 0;
    for (size_t i = get_global_id(0); i < (n + 3) / 4; i += stride) {
        size_t at = 4 * i;
        float4 d;
        if (at + 4 <= n) {
            d = error4_of(vload4(i, a), vload4(i, b));
        } else {
            d = (float4)(error_of(a[at], b[at]), at + 1 < n ? error_of(a[at + 1], b[at + 1]) : 0.0f,
                         at + 2 < n ? error_of(a[at + 2], b[at + 2]) : 0.0f, 0.0f);
        }
        float4 scaled = d * scale, x = scaled * scaled, s = sum + x, t = s - sum;
        lost += (sum - (s - t)) + (x - t);
        sum = s;
        worst = fmax(worst, d);
        count -= isgreater(d, (float4)0.0f);  // a true comparison of vectors is −1
    }
    float2 folded = add((float2)(sum.x, lost.x), (float2)(sum.y, lost.y));
    folded = add(folded, add((float2)(sum.z, lost.z), (float2)(sum.w, lost.w)));
    sums[item] = folded;
    most[item] = fmax(fmax(worst.x, worst.y), fmax(worst.z, worst.w));
    counts[item] = (uint)(count.x + count.y + count.z + count.w);
    fold_sums(sums);
    fold_most(most, counts);
    if (item == 0)
        partial[get_group_id(0)] = (uint4)(as_uint(sums[0].x), as_uint(sums[0].y), as_uint(most[0]), counts[0]);
}

// Gives |a − b| · gain, clipped to 1, for the planes that are colours; where a last plane is alpha, its difference
// shows in every colour. One work-item takes a pixel of a plane (dimension 0) and a colour (dimension 1).
__kernel void difference(__global const float *a, __global const float *b, __global float *out, int size,
                         int colours, int alpha, float gain) {
    int i = get_global_id(0), c = get_global_id(1);
    if (i >= size || c >= colours) return;
    size_t at = (size_t)c * size + i, last = (size_t)colours * size + i;
    float d = error_of(a[at], b[at]);
    if (alpha) d = fmax(d, error_of(a[last], b[last]));
    out[at] = d == 0.0f ? 0.0f : fmin(d * gain, 1.0f);
}
