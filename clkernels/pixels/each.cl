// Planes → planes, pixel by pixel, by a function of another source. After that source, and what takes and gives planes:
// take_quads.cl and give_quads.cl, or take_lanes.cl and give_lanes.cl.
//
// -D EACH=f   f(v, numbers) changes the channels v of a pixel, WIDTH of them at a time, by `numbers`
// A group takes `times` times as many neighbours as its work-items can at once. Any group size.

__kernel void each(__global const STORED *restrict in, __global MADE *restrict out, int pixels, int times,
                   __global const float *restrict numbers) {
    uint items = get_local_size(0), size = pixels, step = items * TAKEN, first = (uint)get_group_id(0) * step * times;
    uint end = min(size, first + step * times);
    for (uint i = first + (uint)get_local_id(0) * TAKEN; i < end; i += step) {
        FLOAT v[VECTORS][CHANNELS];
        light_of(take(in, i, size), 0, 1.0f, v);
        UNROLLED
        for (int k = 0; k < VECTORS; k++) EACH(v[k], numbers);
        give(v, out, i, size, 0, 0);
    }
}
