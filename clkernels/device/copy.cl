// Computes out = in. It only moves memory, 32 bytes a work-item; n is the number of float4. Local: (256).
__kernel void copy(__global const float4 *in, __global float4 *out, ulong n) {
    size_t i = get_global_id(0);
    if (i < n) out[i] = in[i];
}
