// Four neighbouring values of a row, whatever channels they are: of planar float, or of a file's pixels.
//
// -D PIXEL=type -D INTERLEAVED=n   pixels of n channels; without it PLANAR: float, one channel
// -D RAW=type   of four PIXELs' bits: what is on its way from memory stays as it is until it is needed
// -D ALIGNED    rows begin at multiples of four values

#ifndef PIXEL
#define PLANAR
#define PIXEL float
#define RAW uint4
#define INTERLEAVED 1
#define CHANNELS 4
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
typedef JOIN(PIXEL, 4) Four;
#define AS_FOUR JOIN(as_, JOIN(PIXEL, 4))
#define AS_RAW JOIN(as_, RAW)

static inline RAW load_four(__global const PIXEL *p) {
#ifdef ALIGNED
    return *(__global const RAW *)p;
#else
    return AS_RAW(vload4(0, p));
#endif
}

// The first `count` of them.
static inline void store_four(Four v, __global PIXEL *p, int count) {
#ifdef ALIGNED
    if (count > 0) *(__global Four *)p = v;
#else
    if (count >= 4) {
        vstore4(v, 0, p);
    } else {
        if (count > 0) p[0] = v.x;
        if (count > 1) p[1] = v.y;
        if (count > 2) p[2] = v.z;
    }
#endif
}
