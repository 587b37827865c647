// Linear Rec. 709 light → the values of another colour space: light.cl's inverse. After lanes.cl and colour.cl.
//
// -D CHANNELS=n -D COLOURS=n   Channels from COLOURS on are alpha, which stays. Gray has no primaries.
//
// `numbers` are the matrix to the other primaries, row by row, and eight for each curve: its kind and its constants. The
// curves are odd, so that negative values survive, and infinities stay. For HLG four follow, for the inverse of BT.2100's
// OOTF, which makes the scene's light E = Y^((1 − γ) / γ) F of the display's, F, whose luminance is Y: the shares of red,
// green and blue in it, and the exponent.
//   0: V = (L − e)^(1/g) / a − b / a from L = l on, (L − f) / c below; constants 1/g, 1/a, b/a, e, l, 1/c, f
//   1: SMPTE ST 2084 (PQ); constant: the light of 10000 cd/m² is 1 / k
//   2: ITU-R BT.2100 (HLG), table 5; constant: the largest light is 1 / k

enum { TO_PRIMARIES = 1, TO_SIGNAL = 2, THREE_CURVES = 4, TO_SCENE = 8 };  // what is done

static inline INT is_infinite(FLOAT v) { return (AS_INT(v) & 0x7fffffff) == 0x7f800000; }

static inline FLOAT pq_signal(FLOAT y) {
    FLOAT p = power(y, 1305.0f / 8192.0f);
    return power((0.8359375f + 18.8515625f * p) / (1.0f + 18.6875f * p), 2523.0f / 32.0f);
}

static inline FLOAT hlg_signal(FLOAT e) {
    FLOAT above = 0.17883277f * log(fmax(12.0f * e - 0.28466892f, 0.5f)) + 0.55991073f;
    return select(above, sqrt(3.0f * e), e <= 1.0f / 12.0f);
}

static inline FLOAT signal_of(FLOAT light, NUMBERS const float *curve) {
    FLOAT v = fabs(light), made;
    NUMBERS const float *k = curve + 1;
    if (curve[0] == 1.0f) {
        made = pq_signal(v * k[0]);
    } else if (curve[0] == 2.0f) {
        made = hlg_signal(v * k[0]);
    } else {
        FLOAT above = power(fmax(v - k[3], 0.0f), k[0]) * k[1] - k[2];
        made = select((v - k[6]) * k[5], above, v >= k[4]);
    }
    return select(copysign(select(made, v, v != v), light), light, is_infinite(light));
}

static inline void signalled(FLOAT v[CHANNELS], NUMBERS const float *numbers, int parts) {
    INT stays = 0;  // of an infinity, ∞ − ∞ and 0 · ∞ would be NaN
    if (parts & (TO_PRIMARIES | TO_SCENE))
        for (int c = 0; c < COLOURS; c++) stays |= is_infinite(v[c]);
    if (COLOURS == 3 && (parts & TO_PRIMARIES)) {
        FLOAT r = v[0], g = v[1 % CHANNELS], b = v[2 % CHANNELS];
        for (int c = 0; c < COLOURS; c++) {
            NUMBERS const float *row = numbers + 3 * c;
            v[c] = select(fma(row[0], r, fma(row[1], g, row[2] * b)), v[c], stays);
        }
    }
    if (parts & TO_SCENE) {
        NUMBERS const float *k = numbers + 17;
        FLOAT y = COLOURS == 3 ? fma(k[0], v[0], fma(k[1], v[1 % CHANNELS], k[2] * v[2 % CHANNELS])) : v[0];
        FLOAT gain = power(fmax(fabs(y), 1e-30f), k[3]);  // where Y is 0, colours are, and their product with it
        for (int c = 0; c < COLOURS; c++) v[c] = select(v[c] * gain, v[c], stays);
    }
    if (parts & TO_SIGNAL)
        for (int c = 0; c < COLOURS; c++) v[c] = signal_of(v[c], numbers + 9 + (parts & THREE_CURVES ? 8 * (c % 3) : 0));
}
