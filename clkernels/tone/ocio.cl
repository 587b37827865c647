// Colours through an OpenColorIO transform, pixel by pixel. The file stands after ocio_luts.cl and the transform,
// `float4 ocio_transform(__global const float *luts, float4 pixel)`, which gpuops/ocio/transform.py makes of its shader.
//
// All planes are float (plane, pixel). Gray is R = G = B, and becomes the luminance of what the transform gives, by Rec.
// 709's weights. Alpha is given to the transform, 1 where there is none, and stays. Each work-item takes a pixel; the
// launch has any group size. `out` may be `in`.
//
// -D COLOURS=1|3   is the number of planes that are not alpha
// -D ALPHA         says that one more plane is alpha

__kernel void ocio_planes(__global const float *in, __global const float *luts, __global float *out, ulong size) {
    size_t at = get_global_id(0);
    if (at >= size) return;
#if COLOURS == 3
    float4 v = (float4)(in[at], in[size + at], in[2 * size + at], 1.0f);
#else
    float4 v = (float4)(in[at], in[at], in[at], 1.0f);
#endif
#ifdef ALPHA
    v.w = in[COLOURS * size + at];
    out[COLOURS * size + at] = v.w;
#endif
    v = ocio_transform(luts, v);
#if COLOURS == 3
    out[at] = v.x;
    out[size + at] = v.y;
    out[2 * size + at] = v.z;
#else
    out[at] = 0.2126f * v.x + 0.7152f * v.y + 0.0722f * v.z;
#endif
}
