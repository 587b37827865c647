// What OpenColorIO's shaders need, translated to OpenCL C by gpuops/ocio/transform.py: textures, which are parts of a
// buffer here, and functions that OpenCL C lacks. The file stands before such a shader, and ocio.cl behind it.
//
// A texture has n entries along each axis, of 1 or 3 numbers; x runs fastest. Coordinates are of 0 … 1: the middle of
// entry i is at (i + ½) / n, and colours beyond the first and the last entry are theirs (clamp to edge). A texture that
// is `linear` gives what lies between the nearest two, four or eight entries, in proportion; any other gives the nearest
// one. Source: The OpenGL Graphics System, version 4.0, 3.8.11. A NaN is taken for the first entry.

typedef struct {
    int before, after;
    float share;  // of the entry after
} OcioPlace;

static inline OcioPlace ocio_place(float coordinate, int n, int linear) {
    float at = clamp(coordinate, 0.0f, 1.0f) * n;
    OcioPlace place = {0, 0, 0.0f};
    if (linear) {
        at = clamp(at - 0.5f, 0.0f, n - 1.0f);
        place.before = clamp((int)at, 0, n - 1);
        place.after = min(place.before + 1, n - 1);
        place.share = at - place.before;
    } else {
        place.before = place.after = clamp((int)at, 0, n - 1);
    }
    return place;
}

static inline float4 ocio_entry(__global const float *lut, int channels, int at) {
    lut += at * channels;
    return channels == 1 ? (float4)(lut[0], 0.0f, 0.0f, 1.0f) : (float4)(lut[0], lut[1], lut[2], 1.0f);
}

static inline float4 ocio_row(__global const float *lut, int channels, int row, OcioPlace x) {
    return mix(ocio_entry(lut, channels, row + x.before), ocio_entry(lut, channels, row + x.after), x.share);
}

static inline float4 ocio_plane(__global const float *lut, int channels, int plane, int width, OcioPlace x,
                                OcioPlace y) {
    float4 before = ocio_row(lut, channels, plane + y.before * width, x);
    if (y.share == 0.0f) return before;
    return mix(before, ocio_row(lut, channels, plane + y.after * width, x), y.share);
}

static inline float4 ocio_sampled_1(__global const float *lut, int width, int channels, int linear, float at) {
    return ocio_row(lut, channels, 0, ocio_place(at, width, linear));
}

static inline float4 ocio_sampled_2(__global const float *lut, int width, int height, int channels, int linear,
                                    float2 at) {
    return ocio_plane(lut, channels, 0, width, ocio_place(at.x, width, linear), ocio_place(at.y, height, linear));
}

static inline float4 ocio_sampled_3(__global const float *lut, int width, int height, int depth, int channels,
                                    int linear, float3 at) {
    OcioPlace x = ocio_place(at.x, width, linear), y = ocio_place(at.y, height, linear);
    OcioPlace z = ocio_place(at.z, depth, linear);
    float4 before = ocio_plane(lut, channels, z.before * width * height, width, x, y);
    if (z.share == 0.0f) return before;
    return mix(before, ocio_plane(lut, channels, z.after * width * height, width, x, y), z.share);
}

// The columns of a matrix, one after the other, and the vector that it multiplies.
static inline float3 ocio_times_3(float a, float b, float c, float d, float e, float f, float g, float h, float i,
                                  float3 v) {
    return (float3)(a, b, c) * v.x + (float3)(d, e, f) * v.y + (float3)(g, h, i) * v.z;
}

static inline float4 ocio_times_4(float a, float b, float c, float d, float e, float f, float g, float h, float i,
                                  float j, float k, float l, float m, float n, float o, float p, float4 v) {
    return (float4)(a, b, c, d) * v.x + (float4)(e, f, g, h) * v.y + (float4)(i, j, k, l) * v.z +
           (float4)(m, n, o, p) * v.w;
}

// 1 where a component of the first is greater, or less, and 0 elsewhere.
#define ocio_greater(a, b) (1.0f - step(a, b))
#define ocio_less(a, b) (1.0f - step(b, a))
#define ocio_mod(x, y) ((x) - (y) * floor((x) / (y)))

// A vector of its components, or of shorter vectors.
#define ocio_float2(...) ((float2)(__VA_ARGS__))
#define ocio_float3(...) ((float3)(__VA_ARGS__))
#define ocio_float4(...) ((float4)(__VA_ARGS__))
