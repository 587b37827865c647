// Two premultiplied pictures of one size, mixed: out = in + share · (other − in), share = amount · mask.
// All of them are planar float (plane, pixel). This stands after lanes.cl.
//
// -D PLANES=n    The image has n planes; `other` has one more, its alpha, if OVER is defined.
// -D OVER        The image has no alpha: where the other picture is transparent, the image shows through.
// -D MASK        `mask` has a value of 0 … 1 for each pixel.
//
// Each work-item takes WIDTH pixels; the launch has any group size. `out` may be `in`.
__kernel void mix_planes(__global const float *in, __global const float *other, __global const float *mask,
                         __global float *out, ulong size, float amount, int invert) {
    size_t at = get_global_id(0) * WIDTH;
    if (at >= size) return;
    int count = (int)min(size - at, (ulong)WIDTH);
    FLOAT share = amount;
#ifdef MASK
    FLOAT shown = load(mask + at, count);
    share *= invert ? 1.0f - shown : shown;
#endif
#ifdef OVER
    FLOAT clear = 1.0f - load(other + PLANES * size + at, count);
#endif
    for (int c = 0; c < PLANES; c++) {
        FLOAT v = load(in + c * size + at, count), w = load(other + c * size + at, count);
#ifdef OVER
        w += clear * v;
#endif
        // A share of 0 leaves the image as it is and one of 1 gives the picture, whatever the other one holds.
        FLOAT mixed = v + share * (w - v);
        mixed = select(mixed, v, share == (FLOAT)0.0f);
        store(select(mixed, w, share == (FLOAT)1.0f), out + c * size + at, count);
    }
}
