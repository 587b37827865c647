// Colours of one space and kind of alpha → the same colours in another. After lanes.cl and colour.cl.
//
// -D CHANNELS=n -D COLOURS=n   Channels from COLOURS on are alpha.

enum { STRAIGHTEN = 1, LIGHT_TO_SRGB = 2, SRGB_TO_LIGHT = 4, MULTIPLY = 8 };  // what is done, in this order

static inline void converted(FLOAT v[CHANNELS], NUMBERS const float *numbers, int parts) {
    FLOAT alpha = v[CHANNELS - 1];
    for (int c = 0; c < COLOURS; c++) {
        if (parts & STRAIGHTEN) v[c] = straight(v[c], alpha);
        if (parts & LIGHT_TO_SRGB) v[c] = linear_to_srgb(v[c]);
        if (parts & SRGB_TO_LIGHT) v[c] = srgb_to_linear(v[c]);
        if (parts & MULTIPLY) v[c] *= alpha;
    }
}

// Straight colours of premultiplied ones, where there is alpha.
static inline void straightened(FLOAT v[CHANNELS], NUMBERS const float *numbers, int parts) {
    if (COLOURS < CHANNELS) converted(v, numbers, STRAIGHTEN);
}
