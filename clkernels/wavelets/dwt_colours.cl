// Colours in another basis: in planes (planes, size), the first three become matrix · (first, second, third), row by row;
// others, such as alpha, are copied. After lanes.cl: a work-item takes WIDTH neighbours. Global: (size / WIDTH), any group
// size.
__kernel void change_colours(__global const float *in, __global const float *matrix, __global float *out, int planes,
                             int size) {
    const size_t i = get_global_id(0) * WIDTH;
    if (i >= (size_t)size) return;
    const int count = (int)min((size_t)size - i, (size_t)WIDTH);
    const FLOAT a = load(in + i, count), b = load(in + size + i, count), c = load(in + 2 * (size_t)size + i, count);
    for (int k = 0; k < 3; k++)
        store(matrix[3 * k] * a + matrix[3 * k + 1] * b + matrix[3 * k + 2] * c, out + (size_t)k * size + i, count);
    for (int k = 3; k < planes; k++) store(load(in + (size_t)k * size + i, count), out + (size_t)k * size + i, count);
}
