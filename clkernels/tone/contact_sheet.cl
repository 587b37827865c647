// Averages a display's light over larger pixels, along one axis, as an eye sees it from farther away:
//   out(i) = 1/s · Σ_j |[i·s, (i + 1)·s) ∩ [j, j + 1)| · in(j),   s = size / count ≥ 1
// In units of 1/count the edges are whole numbers, so no light is counted twice or left out. No display shows more than
// 1, nor less than 0: so light is clamped before it is averaged.
// Planes are float (outer, the axis, inner): inner is the width down columns, and 1 along rows. The file stands after
// lanes.cl.
//
// -D WIDTH=1|8   is the number of neighbouring values, along inner, that a work-item takes
// -D ALPHA       says that one more plane of `in` is straight alpha: light is laid over `grey`, and out has no alpha
//
// One work-item makes WIDTH values of out; `items` work-items make all. Groups may have any size.

// fmax makes a NaN 0.
static inline FLOAT shown(FLOAT v) { return fmin(fmax(v, 0.0f), 1.0f); }

__kernel void average(__global const float *in, __global float *out, ulong items, uint size, uint count, uint inner,
                   uint outers, float grey) {
    size_t item = get_global_id(0);
    if (item >= items) return;
    uint across = (inner + WIDTH - 1) / WIDTH;
    size_t line = item / across, outer = line / count;
    uint x = item % across * WIDTH;
    int lanes = min(inner - x, (uint)WIDTH);
    ulong from = line % count * size, to = from + size;
    FLOAT sum = 0.0f;
    for (ulong j = from / count; j * count < to; j++) {
        FLOAT v = shown(load(in + (outer * size + j) * inner + x, lanes));
#ifdef ALPHA
        v = mix((FLOAT)grey, v, shown(load(in + ((size_t)outers * size + j) * inner + x, lanes)));
#endif
        sum += (float)(min(to, (j + 1) * count) - max(from, j * count)) * v;
    }
    store(sum / (float)size, out + line * inner + x, lanes);
}
