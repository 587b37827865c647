// Starburst: |F A|², the light that an aperture A diffracts (Fraunhofer), in polar coordinates; the sum over all
// wavelengths; and the result in pixels. Ritschel et al., "Temporal Glare", 2009; Hullin et al., "Physically-Based
// Real-Time Lens Flare Rendering", 2011. gpuops/glow/starburst.py explains units and names.
//
// Polar arrays are (angles from a ray over a sector, distances from 0 on in equal steps). Groups may have any size.

// Gives the transform F of a real image at any frequency from its columns 0 … n/2 of n × n samples: F(−k) = F(k)*.
static inline float2 at_frequency(__global const float2 *spectrum, int n, int y, int x) {
    int sign = x < 0 ? -1 : 1;
    y *= sign;
    float2 f = spectrum[(size_t)(y < 0 ? y + n : y) * (n / 2 + 1) + sign * x];
    return (float2)(f.x, sign * f.y);
}

// Gives the weights of samples −1, 0, 1, 2 for a value at t from sample 0: cubic convolution, Keys 1981, a = −1/2.
static inline float4 cubic(float t) {
    return 0.5f * (float4)(((2.0f - t) * t - 1.0f) * t, (3.0f * t - 5.0f) * t * t + 2.0f,
                           ((4.0f - 3.0f * t) * t + 1.0f) * t, (t - 1.0f) * t * t);
}

// Computes out = |F|² · exp(s²·v²); the exponential undoes how a soft edge dims light far out. F is interpolated from
// `scale` samples for a unit of v. Global: (distances, angles).
__kernel void pattern(__global const float2 *spectrum, __global float *out, int n, int angles, int distances,
                      float sector, float step, float scale, float softness) {
    int j = get_global_id(0), i = get_global_id(1);
    if (j >= distances || i >= angles) return;
    float v = step * j, angle = sector * i / (angles - 1);
    float x = scale * v * cos(angle), y = scale * v * sin(angle);
    int x0 = (int)floor(x), y0 = (int)floor(y);
    float4 across = cubic(x - x0), down = cubic(y - y0);
    float2 sum = 0.0f;
    for (int k = 0; k < 4; k++) {
        float2 row = at_frequency(spectrum, n, y0 + k - 1, x0 - 1) * across.x +
                     at_frequency(spectrum, n, y0 + k - 1, x0) * across.y +
                     at_frequency(spectrum, n, y0 + k - 1, x0 + 1) * across.z +
                     at_frequency(spectrum, n, y0 + k - 1, x0 + 2) * across.w;
        sum += (k == 0 ? down.x : k == 1 ? down.y : k == 2 ? down.z : down.w) * row;
    }
    out[(size_t)i * distances + j] = dot(sum, sum) * exp(softness * softness * v * v);
}

// Computes out = Σ_λ response(λ) · s²·pattern(s·v), s = green / λ: each wavelength has green's pattern at another
// scale, and the same total light. A response is (r, g, b, s). Colours beyond Rec. 709, which have a negative part, are
// mixed with the gray of their luminance until none is negative. out: (r, g, b, luminance).
// Global: (distances, angles); the pattern has `wide` distances.
__kernel void colours(__global const float *pattern, __global const float4 *responses, __global float4 *out,
                      int wavelengths, int wide, int angles, int distances) {
    int j = get_global_id(0), i = get_global_id(1);
    if (j >= distances || i >= angles) return;
    pattern += (size_t)i * wide;
    float4 sum = 0.0f;
    for (int k = 0; k < wavelengths; k++) {
        float4 response = responses[k];
        float at = j * response.w;
        int below = min((int)at, wide - 2);
        sum += response * (response.w * response.w * mix(pattern[below], pattern[below + 1], at - below));
    }
    float y = fmax(dot(sum.xyz, (float3)(0.2126f, 0.7152f, 0.0722f)), 0.0f);
    float lowest = fmin(fmin(sum.x, fmin(sum.y, sum.z)), 0.0f), share = y > 0.0f ? y / (y - lowest) : 0.0f;
    out[(size_t)i * distances + j] = fmax((float4)(y + (sum.xyz - y) * share, y), 0.0f);  // removes rounding below 0
}

// Averages over every pixel, from `per` × `per` samples: planes red, green, blue, luminance of (2·half + 1)². A pixel
// is `unit` distances wide, a ray leaves at the angle `turn`, and all light fades out towards `reach` pixels.
// Global: (2·half + 1, half + 1); the other rows are the same by symmetry about the centre.
__kernel void pixels(__global const float4 *polar, __global float *out, int half_size, int per, int angles,
                     int distances, float sector, float turn, float unit, float reach) {
    int column = get_global_id(0), row = get_global_id(1), size = 2 * half_size + 1;
    if (column >= size || row > half_size) return;
    float4 sum = 0.0f;
    for (int k = 0; k < per; k++)
        for (int l = 0; l < per; l++) {
            float x = column - half_size + (l + 0.5f) / per - 0.5f, y = half_size - row + (k + 0.5f) / per - 0.5f;
            float distance = hypot(x, y), angle = atan2(y, x) - turn;
            float fade = fmax(1.0f - distance * distance / (reach * reach), 0.0f);
            angle = fabs(angle - 2.0f * sector * rint(angle / (2.0f * sector))) / sector * (angles - 1);
            distance = fmin(distance * unit, distances - 1.0f);
            int i = min((int)angle, angles - 2), j = min((int)distance, distances - 2);
            __global const float4 *near = polar + (size_t)i * distances + j, *far = near + distances;
            float4 value = mix(mix(near[0], near[1], distance - j), mix(far[0], far[1], distance - j), angle - i);
            sum += fade * fade * value;
        }
    float values[4] = {sum.x, sum.y, sum.z, sum.w};
    size_t plane = (size_t)size * size, at = (size_t)row * size + column;
    for (int p = 0; p < 4; p++) {
        out[p * plane + at] = values[p] / (per * per);
        if (row < half_size) out[p * plane + plane - 1 - at] = values[p] / (per * per);
    }
}

// Computes glow += (1 − inside) · light: light that would leave the frame stays where it is. `inside` is the share of
// the kernel within the frame, one plane for all or one for each. Global: (pixels, planes).
__kernel void stay(__global const float *light, __global const float *inside, __global float *glow, int size,
                   int planes, int inside_planes) {
    int i = get_global_id(0), plane = get_global_id(1);
    if (i >= size || plane >= planes) return;
    size_t at = (size_t)plane * size + i;
    glow[at] = fma(1.0f - inside[inside_planes > 1 ? at : i], light[at], glow[at]);
}
