// PU21: light as values whose steps are equally visible, for metrics that were made for the signal of a display.
// R. Mantiuk, M. Azimi, "PU21: A novel perceptually uniform encoding for adapting existing quality metrics for HDR",
// Picture Coding Symposium 2021; the encoding banding_glare. After lanes.cl.
//
//   V = max(p7 (((p1 + p2 Y^p4) / (1 + p3 Y^p4))^p5 − p6), 0), Y in cd/m², of 0.005 … 10000
//
// V is 256 at 100 cd/m², the white of a display. NaN and infinities stay what they are. numbers[0] is the luminance of
// light 1 in cd/m². Channels from COLOURS on are alpha, and stay.
//
// -D CHANNELS=n -D COLOURS=1|3

enum { PU21_LUMINANCE = 1 };  // all colours become the luminance first, with the weights of Rec. 709

static inline void pu21(FLOAT v[CHANNELS], NUMBERS const float *numbers, int parts) {
#if COLOURS == 3
    if (parts & PU21_LUMINANCE) v[0] = v[1] = v[2] = 0.212656f * v[0] + 0.715158f * v[1] + 0.072186f * v[2];
#endif
    for (int c = 0; c < COLOURS; c++) {
        FLOAT z = power(clamp(v[c] * numbers[0], (FLOAT)0.005f, (FLOAT)10000.0f), 0.9062562627f);
        FLOAT pu = power((0.353487901f + 0.3734658629f * z) / (1.0f + 8.277049286e-5f * z), 0.09150303166f);
        FLOAT value = fmax(596.3148142f * (pu - 0.9099517204f), 0.0f);
        v[c] = select(v[c], value, fabs(v[c]) <= FLT_MAX);
    }
}
