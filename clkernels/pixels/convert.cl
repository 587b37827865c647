// Planes of one colour space and kind of alpha → the same colours in another, value by value:
//   straight colours are premultiplied ones divided by alpha; sRGB and light become each other by encode.cl's curve.
// The input's planes are (CHANNELS, size) floats, and so are the result's; the last plane is alpha if COLOURS < CHANNELS.
// This stands after lanes.cl, colour.cl and encode.cl, whose TO_SRGB or TO_LINEAR names the curve.
//
// -D STRAIGHTEN    Colours are premultiplied and are divided by alpha before the curve.
// -D MULTIPLY      Colours are multiplied by alpha after the curve.
//
// Each work-item takes WIDTH pixels; the launch has any group size.
__kernel void convert(__global const float *in, __global float *out, ulong size) {
    size_t at = get_global_id(0) * WIDTH;
    if (at >= size) return;
    int count = (int)min(size - at, (ulong)WIDTH);
#if defined(STRAIGHTEN) || defined(MULTIPLY)
    FLOAT alpha = load(in + COLOURS * size + at, count);
#endif
    for (int c = 0; c < CHANNELS; c++) {
        FLOAT v = load(in + c * size + at, count);
        if (c < COLOURS) {
#ifdef STRAIGHTEN
            v = straight(v, alpha);
#endif
            v = CURVE(v);
#ifdef MULTIPLY
            v *= alpha;
#endif
        }
        store(v, out + c * size + at, count);
    }
}
