// Local tone mapping: a gain for every pixel, by what is around it (tonemap_surroundings.cl). After lanes.cl.
// Planes of `size` pixels, WIDTH to a work-item; any group size.

// One scale of dodging and burning: L' = L / (1 + V(s)), where V(s) is the luminance around a pixel at the largest scale s
// up to which light is even: where at all scales |V(s) − V'(s)| / (2^φ a / s² + V(s)) < ε, V' being what is around at 1.6 s;
// or at the smallest scale, if there is none.
// Reinhard, Stark, Shirley, Ferwerda: Photographic Tone Reproduction for Digital Images, SIGGRAPH 2002, eqs. 5 to 9.
//
// centre, surround: V and V'. gain: negative as long as a larger scale may do. sharpening: 2^φ a / s²; threshold: ε;
// first, last: −1 at the smallest, at the largest scale, else 0.
__kernel void dodge(__global const float *centre, __global const float *surround, __global float *gain, int size,
                    float sharpening, float threshold, int first, int last) {
    size_t i = get_global_id(0) * (size_t)WIDTH, plane = size;
    if (i >= plane) return;
    int count = (int)min(plane - i, (size_t)WIDTH);
    // Beside a sun a blur may be a little below 0.
    FLOAT v = fmax(load(centre + i, count), 0.0f), wider = fmax(load(surround + i, count), 0.0f), g = load(gain + i, count);
    INT even = fabs(v - wider) < threshold * (sharpening + v);
    g = select(g, -1.0f / (1.0f + v), (even | (INT)first) & (g < 0.0f));
    store(select(fabs(g), g, even & ~(INT)last), gain + i, count);
}

// What logarithms() took, in place.
__kernel void exponentials(__global float *v, int size) {
    size_t i = get_global_id(0) * (size_t)WIDTH, plane = size;
    if (i >= plane) return;
    int count = (int)min(plane - i, (size_t)WIDTH);
    store(exp2(load(v + i, count)), v + i, count);
}

// The gain for a base, in place: with the luminance's logarithm l = base + detail, that of the result is
// compression · (base − highest) + detail + offset, and the gain's is that less l. Base is of lowest … highest: what is
// darker or brighter than both keeps its contrast. Infinite: of pixels beyond; NaN: black.
// Durand, Dorsey: Fast Bilateral Filtering for the Display of High-Dynamic-Range Images, SIGGRAPH 2002, section 6.
__kernel void compress(__global float *around, int size, float compression, float lowest, float highest, float offset,
                       float beyond) {
    size_t i = get_global_id(0) * (size_t)WIDTH, plane = size;
    if (i >= plane) return;
    int count = (int)min(plane - i, (size_t)WIDTH);
    FLOAT v = load(around + i, count), base = clamp(log2(fmax(v, FLT_MIN)), lowest, highest);
    FLOAT gain = exp2(compression * (base - highest) - base + offset);
    store(select(gain, (FLOAT)(1.0f / beyond), isinf(v)), around + i, count);
}
