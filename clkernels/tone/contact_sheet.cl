// A display's light averaged over larger pixels, along one axis: what an eye sees of it from farther away. After lanes.cl.
//   out(i) = 1/s · Σ_j |[i·s, (i + 1)·s) ∩ [j, j + 1)| · in(j),   s = size / count ≥ 1
// In units of 1/count the edges are whole numbers, so nothing is counted twice, or not at all. No display shows more than
// 1, nor less than 0: light is cut before it is averaged, as it is when a picture is shown and then looked at.
// Planar float as (outer, the axis, inner): inner is the width down columns, and 1 along rows.
//
// -D WIDTH=1|8 (of inner)   -D ALPHA: behind the planes of `in` comes one of straight alpha, by which light stands over
// `grey`; out has none.
// One work-item for WIDTH values of out, of `items` in all; any group size.

// fmin and fmax: a NaN becomes 0.
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
