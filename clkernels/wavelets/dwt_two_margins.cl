// Puts samples aside for dwt_two_levels.cl: as dwt_margins.cl of what is read, and of approximations between the two levels, which
// no buffer holds. Each of these is made from as much around it as the steps read, by the same operations as there.
//
// After border.cl, dwt_layout.cl, dwt_beyond.cl (of modes with one TERM), a schedule, dwt_margins.cl, and dwt_lift.cl for 1.
// Global: (approximations or details to put aside + fours of samples of what is read, planes), any group size.

#define AROUND (LEFT + 1 + RIGHT)  // pairs that one depends on

// Row y of what is read, lifted: one pair. Its samples, and those around them, are from columns h[0] … on.
static inline Row1 read_lifted(READ, int y, const Extension *h, int4 bands, int2 image) {
    const Extension v = extension(y, READ_HEIGHT(bands, image));
    S s[2 * AROUND];
    UNROLLED
    for (int i = 0; i < 2 * AROUND; i++) {
        const S weight = v.weight[0] * h[i].weight[0], value = sample(READ_FROM, v.at[0], h[i].at[0], bands);
        s[i] = weight == 0 ? 0 : weight * value;
#ifdef INVERSE
        s[i] *= y & 1 ? (i & 1 ? K2 : -1) : i & 1 ? -1 : 1 / K2;
#endif
    }
    S e[OWN + 1 + AFTER / 2], o[OWN + 1 + AFTER / 2];
    UNROLLED
    for (int k = 0; k < AROUND; k++) e[OWN - LEFT + k] = s[2 * k], o[OWN - LEFT + k] = s[2 * k + 1];
    lift_row1(e, o);
    const Row1 row = {{e[OWN], o[OWN]}};
    return row;
}

static inline S approximation(READ, int y, int x, int4 bands, int2 image, int first) {
#ifdef INVERSE
    const int pair_y = y / 2 + first, pair_x = x / 2 + first;
#else
    const int pair_y = y + first, pair_x = x + first;
#endif
    Extension h[2 * AROUND];
    UNROLLED
    for (int i = 0; i < 2 * AROUND; i++) h[i] = extension(2 * (pair_x - LEFT) + i, READ_WIDTH(bands, image));
    Row1 e[KEPT], o[KEPT];
    UNROLLED
    for (int k = 0; k < KEPT; k++) e[k].v[0] = e[k].v[1] = o[k].v[0] = o[k].v[1] = 0;
#pragma unroll 1
    for (int k = pair_y - LEFT; k <= pair_y + RIGHT; k++) {
        UNROLLED
        for (int i = 1; i < KEPT; i++) e[i - 1] = e[i], o[i - 1] = o[i];
        e[NEWEST] = read_lifted(READ_FROM, 2 * k, h, bands, image);
        o[NEWEST] = read_lifted(READ_FROM, 2 * k + 1, h, bands, image);
        lift_columns1(e, o);
    }
#ifdef INVERSE
    return y & 1 ? o[FINISHED].v[x & 1] : e[FINISHED].v[x & 1];
#else
    return K2 * e[FINISHED].v[0];
#endif
}

#ifdef INVERSE
#define DETAILS , __global const S *fine_lh, __global const S *fine_hl, __global const S *fine_hh
#else
#define DETAILS
#endif

// Two levels: what is read belongs to the one; approximations, and the fine level's details beside them, to the other.
__kernel void two_margins(READ DETAILS, __global S *columns, __global S *rows, __global S *other_columns,
                          __global S *other_rows, int4 bands, int2 image, ulong plane_size, int first, int4 sides,
                          int4 beyond, int4 other_bands, int2 other_image, int other_first, int4 other_sides,
                          int4 other_beyond, int other_start) {
    const size_t plane = get_global_id(1);
    TO_PLANE(plane);
    const int height = READ_HEIGHT(other_bands, other_image), width = READ_WIDTH(other_bands, other_image);
    // Of columns x … only those that steps read: `before` and `after` of each row, and of rows beyond the edges all.
    const int begin = 2 * (other_first - LEFT), end = 2 * (other_first + PAIRS_X(other_bands, other_image) + RIGHT);
    const int before = max(other_sides.x - begin, 0), after = max(end - other_sides.y, 0);
    const uint id = get_global_id(0), in_columns = (uint)height * (before + after), in_rows = (uint)other_beyond.y * (end - begin);
    int y, x;
    __global S *to;
    if (id < in_columns) {
        const int i = id % (before + after);
        y = id / (before + after);
        x = i < before ? begin + i : other_sides.y + i - before;
        const int place = i < before ? x - other_start : other_sides.x - other_start + x - other_sides.y;
        to = other_columns + (plane * height + y) * other_sides.z + PLACE_ASIDE(place, other_sides.z);
    } else if (id < in_columns + in_rows) {
        const int j = (id - in_columns) / (end - begin);
        x = begin + (id - in_columns) % (end - begin);
        y = j < other_beyond.x ? j - other_beyond.x : height + j - other_beyond.x;
        to = other_rows + (plane * other_beyond.y + j) * other_sides.w + PLACE_ASIDE(x - other_start, other_sides.w);
    } else {
        put_aside((id - in_columns - in_rows) * 4, READ_FROM, columns, rows, bands, image, first, sides, beyond, 1, 0);
        return;
    }
    const Extension v = extension(y, height), h = extension(x, width);
    const S weight = v.weight[0] * h.weight[0];
    S value = 0;
    if (weight != 0) {
        y = v.at[0], x = h.at[0];
#ifdef INVERSE
        const size_t in_plane = plane * (y & 1 ? other_bands.y : other_bands.x) + y / 2;
        if (x & 1)
            value = (y & 1 ? fine_hh : fine_hl)[in_plane * other_bands.w + x / 2];
        else if (y & 1)
            value = fine_lh[in_plane * other_bands.z + x / 2];
        else
            value = approximation(READ_FROM, y / 2, x / 2, bands, image, first);
#else
        value = approximation(READ_FROM, y, x, bands, image, first);
#endif
        value *= weight;
    }
    *to = value;
}
