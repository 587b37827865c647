/* The kernels that a device has to run correctly before it is used, and those that measure it.

   canary: a row of groups takes an image row, one work-item a pixel. Every step is exact in float32 (whole
   numbers below 2^24), so the host compares bit by bit:
       out(x, y)   = tile[L-1-l] / 2 + (h(x, y) mod 251)        tile[l] = image(reflect(x + 3), reflect(y - 2))
       sums(group) = sum of tile[l] over the group, by halving
   where L is the group's width, l the local index, h a 32-bit multiplicative hash, and reflect gives dcba|abcd|dcba.
   global = (width rounded up to L, height), local = (L, 1), L a power of two; tile holds L floats.

   copy: each work-item copies one float4, so it reads 16 bytes and writes 16.

   multiply_add, multiply_add_wide: eight independent chains a <- a m + c take `rounds` steps: 16 (256) flops a step.
   The scalar kernel suits GPUs and compilers that vectorise over work-items; the wide one suits those that do not. */

static int reflect(int i, int n)
{
    const int period = 2 * n;
    i = ((i % period) + period) % period;
    return i < n ? i : period - 1 - i;
}

kernel void canary(global const float *image, global float *out, global float *sums, int width, int height,
                   local float *tile)
{
    const int x = (int)get_global_id(0);
    const int y = (int)get_global_id(1);
    const int l = (int)get_local_id(0);
    const int size = (int)get_local_size(0);

    tile[l] = image[(size_t)reflect(y - 2, height) * width + reflect(x + 3, width)];
    barrier(CLK_LOCAL_MEM_FENCE);
    const float mirrored = tile[size - 1 - l];
    barrier(CLK_LOCAL_MEM_FENCE);

    uint h = (uint)x * 2654435761u ^ (uint)y * 2246822519u;
    h ^= h >> 15;
    if (x < width)
        out[(size_t)y * width + x] = mirrored * 0.5f + (float)(h % 251u);

    for (int half_size = size / 2; half_size > 0; half_size /= 2) {
        if (l < half_size)
            tile[l] += tile[l + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        sums[(size_t)y * get_num_groups(0) + get_group_id(0)] = tile[0];
}

kernel void copy(global const float4 *in, global float4 *out, ulong count)
{
    const size_t i = get_global_id(0);
    if (i < count)
        out[i] = in[i];
}

kernel void multiply_add(global float *out, int rounds, float m, float c)
{
    const float x = (float)get_global_id(0);
    float a0 = x, a1 = x + 1.0f, a2 = x + 2.0f, a3 = x + 3.0f, a4 = x + 4.0f, a5 = x + 5.0f, a6 = x + 6.0f,
          a7 = x + 7.0f;
    for (int i = 0; i < rounds; i++) {
        a0 = mad(a0, m, c);
        a1 = mad(a1, m, c);
        a2 = mad(a2, m, c);
        a3 = mad(a3, m, c);
        a4 = mad(a4, m, c);
        a5 = mad(a5, m, c);
        a6 = mad(a6, m, c);
        a7 = mad(a7, m, c);
    }
    out[get_global_id(0)] = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7;
}

kernel void multiply_add_wide(global float *out, int rounds, float m, float c)
{
    const float16 x = (float16)((float)get_global_id(0));
    float16 a0 = x, a1 = x + 1.0f, a2 = x + 2.0f, a3 = x + 3.0f, a4 = x + 4.0f, a5 = x + 5.0f, a6 = x + 6.0f,
            a7 = x + 7.0f;
    for (int i = 0; i < rounds; i++) {
        a0 = mad(a0, m, c);
        a1 = mad(a1, m, c);
        a2 = mad(a2, m, c);
        a3 = mad(a3, m, c);
        a4 = mad(a4, m, c);
        a5 = mad(a5, m, c);
        a6 = mad(a6, m, c);
        a7 = mad(a7, m, c);
    }
    const float16 sum = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7;
    const float8 half_sum = sum.lo + sum.hi;
    const float4 quarter = half_sum.lo + half_sum.hi;
    out[get_global_id(0)] = quarter.x + quarter.y + quarter.z + quarter.w;
}
