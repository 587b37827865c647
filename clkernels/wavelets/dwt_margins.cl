// Puts samples aside that dwt_level.cl will not find in their place: what stands beyond edges, and in place also what
// neighbours will have overwritten.
//
//   columns[y][i]   of each row the samples from `start` on that come before `inside`, and then those from `outside` on;
//                   STRIPS: BEFORE and AFTER of them at each left edge of a tile of TILE columns, and then those from `outside`
//   rows[j]         from column `start` on, `above` rows above and then those below the image;
//                   STRIPS: above and below each band's upper edge and the image's lower one
//
// After border.cl, dwt_layout.cl and dwt_beyond.cl. Global: (fours of samples put aside, planes), any group size.

#ifdef STRIPS
#define READ __global const S *buffer, uint pitch, int4 layout
#define READ_FROM buffer, pitch, layout
#define TO_PLANE(plane) buffer += (plane) * plane_size
static inline S sample(READ, int y, int x, int4 bands) {
#ifdef INVERSE
    return buffer[y * pitch + low_place(x / 2, layout) + (x & 1 ? half_length(x / 2, layout) : 0)];
#else
    return buffer[y * pitch + column_place(x, layout)];
#endif
}
#elif defined(INVERSE)
#define READ __global const S *ll, __global const S *lh, __global const S *hl, __global const S *hh
#define READ_FROM ll, lh, hl, hh
#define TO_PLANE(plane)                                                                                                \
    ll += (plane) * bands.x * bands.z, lh += (plane) * bands.y * bands.z, hl += (plane) * bands.x * bands.w,           \
        hh += (plane) * bands.y * bands.w
static inline S sample(READ, int y, int x, int4 bands) {
    __global const S *band = y & 1 ? (x & 1 ? hh : lh) : x & 1 ? hl : ll;
    return band[(uint)(y / 2) * (x & 1 ? bands.w : bands.z) + x / 2];
}
#else
#define READ __global const S *in, uint pitch
#define READ_FROM in, pitch
#define TO_PLANE(plane) in += (plane) * plane_size
static inline S sample(READ, int y, int x, int4 bands) {
    return in[y * pitch + x];
}
#endif

static inline S extended(READ, int y, int x, int4 bands, int2 image) {
    const Extension v = extension(y, READ_HEIGHT(bands, image)), h = extension(x, READ_WIDTH(bands, image));
    S sum = 0;
    UNROLLED
    for (int j = 0; j < TERMS; j++)
        UNROLLED
        for (int i = 0; i < TERMS; i++)
            if (v.weight[j] != 0 && h.weight[i] != 0)
                sum += v.weight[j] * h.weight[i] * sample(READ_FROM, v.at[j], h.at[i], bands);
    return sum;
}

// Samples x, x + STEP, x + 2 STEP, x + 3 STEP of a row.
#ifdef INVERSE
#define STEP 2
#else
#define STEP 1
#endif

static inline void put_four(READ, int y, int x, int4 bands, int2 image, __global S *to) {
    if (y >= 0 && y < READ_HEIGHT(bands, image) && x >= 0 && x + 3 * STEP < READ_WIDTH(bands, image)) {
#if defined(INVERSE) && defined(STRIPS)
        const uint from = low_place(x / 2, layout);
        S4 v;
        if (low_place(x / 2 + 3, layout) == from + 3)
            v = vload4(0, buffer + y * pitch + from + (x & 1 ? half_length(x / 2, layout) : 0));
        else
            v = (S4)(sample(READ_FROM, y, x, bands), sample(READ_FROM, y, x + STEP, bands),
                     sample(READ_FROM, y, x + 2 * STEP, bands), sample(READ_FROM, y, x + 3 * STEP, bands));
#elif defined(INVERSE)
        const S4 v = {sample(READ_FROM, y, x, bands), sample(READ_FROM, y, x + STEP, bands),
                      sample(READ_FROM, y, x + 2 * STEP, bands), sample(READ_FROM, y, x + 3 * STEP, bands)};
#elif defined(STRIPS)
        const S4 v = vload4(0, buffer + y * pitch + column_place(x, layout));
#else
        const S4 v = vload4(0, in + y * pitch + x);
#endif
        *(__global S4 *)to = v;
    } else {
#pragma unroll 1
        for (int c = 0; c < 4; c++) to[c] = extended(READ_FROM, y, x + c * STEP, bands, image);
    }
}

// Which sample of those put aside of a row is at `place`: the inverse of PLACE_ASIDE.
static inline int aside(int place, int pitch) {
#ifdef INVERSE
    return place < pitch / 2 ? 2 * place : 2 * place - pitch + 1;
#else
    return place;
#endif
}

// What one work-item puts aside.
static inline void put_aside(uint id, READ, __global S *columns, __global S *rows, int4 bands, int2 image, int first,
                             int4 sides, int4 beyond, int tiles, int band) {
    const size_t plane = get_global_id(1);
    const int height = READ_HEIGHT(bands, image), start = 2 * first - ROOM;
    const uint in_columns = (uint)height * sides.z, in_rows = (uint)beyond.y * sides.w;
    __global S *to;
    int y, x;
    if (id < in_columns) {
        const int i = aside(id % sides.z, sides.z);
        y = id / sides.z;
#ifdef STRIPS
        const int edges = EDGES_ASIDE(tiles);
        x = i < edges ? i / EDGE * TILE + i % EDGE - BEFORE : sides.y + i - edges;
#else
        const int kept = sides.x - start;
        x = i < kept ? start + i : sides.y + i - kept;
#endif
        to = columns + plane * in_columns + id;
    } else {
        id -= in_columns;
        if (id >= in_rows) return;
        const int j = id / sides.w;
        x = start + aside(id % sides.w, sides.w);
#ifdef STRIPS
        const int most = beyond.z;
        y = min(j / most * 2 * band, height) + j % most - beyond.x;
#else
        y = j < beyond.x ? 2 * first - 2 * LEFT + j : height + j - beyond.x;
#endif
        to = rows + plane * in_rows + id;
    }
    put_four(READ_FROM, y, x, bands, image, to);
}

__kernel void margins(READ, __global S *columns, __global S *rows, int4 bands, int2 image, ulong plane_size, int first,
                      int4 sides, int4 beyond, int tiles, int band) {
    // sides: inside, outside, and so many samples of each of `columns` and of `rows`
    // beyond: rows above, rows in all, and with STRIPS rows of an edge
    TO_PLANE(get_global_id(1));
    put_aside(get_global_id(0) * 4, READ_FROM, columns, rows, bands, image, first, sides, beyond, tiles, band);
}
