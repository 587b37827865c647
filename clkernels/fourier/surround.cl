// The surroundings of pictures that are filtered as products of spectra. After border.cl with BORDER_REFLECT.

// in (planes, rows, columns · VALUES) → out (planes, around.x, around.y · VALUES), where a number has VALUES values: 1, or 2
// if it is complex. The picture is at (0, 0) and goes on mirrored: behind its end as far as the middle of what is left,
// before its beginning from there on. Global: (around.y · VALUES, around.x, planes); any group size.
__kernel void surround(__global const float *in, __global float *out, int rows, int columns, int2 around) {
    int x = get_global_id(0), y = get_global_id(1);
    size_t plane = get_global_id(2);
    if (x >= around.y * VALUES || y >= around.x) return;
    int number = x / VALUES, value = x % VALUES;
    int row = border_index(y < (rows + around.x) / 2 ? y : y - around.x, rows);
    int column = border_index(number < (columns + around.y) / 2 ? number : number - around.y, columns);
    size_t from = (plane * rows + row) * columns + column, to = (plane * around.x + y) * around.y + number;
    out[to * VALUES + value] = in[from * VALUES + value];
}
