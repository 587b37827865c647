// Local tone mapping: a gain for every pixel, from the light around it (tonemap_surroundings.cl). The file stands after
// lanes.cl. Planes have `size` pixels; a work-item takes WIDTH of them, and groups may have any size.

// One scale of dodging and burning: L' = L / (1 + V(s)), where V(s) is the luminance around a pixel at scale s, V'(s)
// that at 1.6 s. s is the largest scale such that, at all scales up to it, light is even:
// |V(s) − V'(s)| / (2^φ a / s² + V(s)) < ε. If there is none, s is the smallest scale.
// Reinhard, Stark, Shirley, Ferwerda: Photographic Tone Reproduction for Digital Images, SIGGRAPH 2002, eqs. 5 to 9.
//
// centre, surround: V and V'. gain: negative while a larger scale may replace it. sharpening: 2^φ a / s²; threshold: ε;
// first, last: −1 at the smallest, at the largest scale, else 0.
// first, last: −1 at the smallest, at the largest scale, else 0.
__kernel void dodge(__global const float *centre, __global const float *surround, __global float *gain, int size,
                    float sharpening, float threshold, int first, int last) {
    size_t i = get_global_id(0) * (size_t)WIDTH, plane = size;
    if (i >= plane) return;
    int count = (int)min(plane - i, (size_t)WIDTH);
        // Next to a sun the blurred light may be slightly negative.
    FLOAT v = fmax(load(centre + i, count), 0.0f), wider = fmax(load(surround + i, count), 0.0f), g = load(gain + i, count);
    INT even = fabs(v - wider) < threshold * (sharpening + v);
    g = select(g, -1.0f / (1.0f + v), (even | (INT)first) & (g < 0.0f));
    store(select(fabs(g), g, even & ~(INT)last), gain + i, count);
}

// Inverts logarithms() of tonemap_surroundings.cl, in place.
__kernel void exponentials(__global float *v, int size) {
    size_t i = get_global_id(0) * (size_t)WIDTH, plane = size;
    if (i >= plane) return;
    int count = (int)min(plane - i, (size_t)WIDTH);
    store(exp2(load(v + i, count)), v + i, count);
}

// Replaces the base by a gain. The luminance's logarithm is l = base + detail, and the result's is
// compression · (base − highest) + detail + offset; the gain's is their difference. The base is clamped to lowest …
// highest, so that contrast outside this range is kept. An infinite base marks a pixel of luminance `beyond`; NaN marks
// black. Source: Durand, Dorsey, "Fast bilateral filtering for the display of high-dynamic-range images", SIGGRAPH
// 2002, section 6.
__kernel void compress(__global float *around, int size, float compression, float lowest, float highest, float offset,
                       float beyond) {
    size_t i = get_global_id(0) * (size_t)WIDTH, plane = size;
    if (i >= plane) return;
    int count = (int)min(plane - i, (size_t)WIDTH);
    FLOAT v = load(around + i, count), base = clamp(log2(fmax(v, FLT_MIN)), lowest, highest);
    FLOAT gain = exp2(compression * (base - highest) - base + offset);
    store(select(gain, (FLOAT)(1.0f / beyond), isinf(v)), around + i, count);
}
