// Converts a file's interleaved pixels (height, width, CHANNELS) to planar float (channel, pixel); integers are
// multiplied by `scale`. One work-item takes a pixel; groups may have any size. The file stands after decode.cl.

__kernel void unpack(__global const PIXEL *pixels, __global const float *table, __global float *planes, int size,
                     float scale) {
    int i = get_global_id(0);
    if (i >= size) return;
    PIXEL pixel[CHANNELS];
    float v[CHANNELS];
    for (int c = 0; c < CHANNELS; c++) pixel[c] = pixels[(size_t)i * CHANNELS + c];
    decode(pixel, table, scale, v);
    for (int c = 0; c < CHANNELS; c++) planes[(size_t)c * size + i] = v[c];
}
