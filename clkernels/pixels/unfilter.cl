// The filters of a PNG file's rows undone: each byte was stored less what its neighbours predict, modulo 256.
// Filter types 0 to 4: W3C Portable Network Graphics (Third Edition), section 9.
//
// rows: for each row of the picture a byte that names its filter, and its filtered bytes. pixels: (row, column, channel).
// One work-item does all, row by row.
//
// -D BYTES=n  bytes of a pixel: 1, 2, 3, 4, 6 or 8
// -D WIDE     values have two bytes: the file has the high one first, and pixels the low one

#ifdef WIDE
#define PLACE(i) ((i) ^ 1)
#else
#define PLACE(i) (i)
#endif

#if BYTES > 4
typedef short8 Pixel;
#else
typedef short4 Pixel;
#endif

#if BYTES == 1
#define EACH_BYTE(DO) DO(0)
#elif BYTES == 2
#define EACH_BYTE(DO) DO(0) DO(1)
#elif BYTES == 3
#define EACH_BYTE(DO) DO(0) DO(1) DO(2)
#elif BYTES == 4
#define EACH_BYTE(DO) DO(0) DO(1) DO(2) DO(3)
#elif BYTES == 6
#define EACH_BYTE(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)
#else
#define EACH_BYTE(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#endif

// The bytes of a pixel of the file, and of one of the result.
inline Pixel of_file(__global const uchar *bytes) {
    Pixel p = 0;
#define TAKE(i) p.s##i = bytes[i];
    EACH_BYTE(TAKE)
    return p;
}

inline Pixel of_pixels(__global const uchar *bytes) {
    Pixel p = 0;
#define TAKE_PLACED(i) p.s##i = bytes[PLACE(i)];
    EACH_BYTE(TAKE_PLACED)
    return p;
}

inline void put(Pixel p, __global uchar *bytes) {
#define PUT(i) bytes[PLACE(i)] = p.s##i;
    EACH_BYTE(PUT)
}

inline Pixel distance_of(Pixel p) {
    return max(p, -p);
}

// What the pixels to the left, above, and above to the left predict.
inline Pixel predicted(int kind, Pixel left, Pixel up, Pixel corner) {
    if (kind == 1) return left;
    if (kind == 2) return up;
    if (kind == 3) return (left + up) >> (short)1;
    if (kind != 4) return 0;
    // Paeth's: the one that is nearest to left + up − corner.
    Pixel right = up - corner, down = left - corner;
    Pixel to_left = distance_of(right), to_up = distance_of(down), to_corner = distance_of(right + down);
    Pixel other = to_up <= to_corner ? up : corner;
    return to_left <= to_up && to_left <= to_corner ? left : other;
}

__kernel void unfilter(__global const uchar *rows, __global uchar *pixels, int width, int height) {
    const size_t length = (size_t)width * BYTES;
    for (int y = 0; y < height; y++) {
        __global const uchar *filtered = rows + y * (length + 1) + 1;
        __global uchar *row = pixels + y * length;
        const int kind = filtered[-1];
        Pixel left = 0, corner = 0;
        for (int x = 0; x < width; x++) {
            Pixel up = 0;
            if (y) up = of_pixels(row - length + x * BYTES);
            left = (of_file(filtered + x * BYTES) + predicted(kind, left, up, corner)) & (short)255;
            corner = up;
            put(left, row + x * BYTES);
        }
    }
}
