// All lifting steps along an axis in one kernel, in local memory: each sample is read once, those at a
// group's edges twice, and each result is written once. W. J. van der Laan, A. C. Jalba and J. B. T. M.
// Roerdink, "Accelerating Wavelet Lifting on Graphics Hardware Using CUDA", IEEE TPDS 22 (2011). This is what
// both kernels have in common: dwt_laan_rows.cl and dwt_laan_columns.cl.
//
//   pair k = samples 2k (even) and 2k + 1 (odd);  STEPS times what dwt_steps.cl says;
//   then low = even · LOW_SCALE and high = odd · HIGH_SCALE.  -D INVERSE: the other way round, scaled first.
//
// An image is planes of size.x rows and size.y columns, of which a transform may take a part at the top left:
// `across` lines of n samples each. The low half begins at the first row or column of its planes, the high
// one at `high_from`: both may be in one image.
//
// After a wavelet's constants (gpuops/wavelets/lifting.py), border.cl, dwt_extension.cl and dwt_steps.cl.
// -D S=float|double|int   a sample
// -D V=S or S16, -D WIDTH=1|16   neighbours in a row that a work-item takes at once

#define FENCE() barrier(CLK_LOCAL_MEM_FENCE)

#ifdef INVERSE
#define BUFFERS __global const S *low, __global const S *high, __global S *image
#define SOURCE(h) ((h) ? high : low)
#define SOURCE_SIZE(h) ((h) ? high_size : low_size)
#define INDEX(k, h) coefficient_index(k, h, (h) ? highs : lows, n)  // of what stands at pair k
#define SCALED(v, h) ((v) * ((h) ? HIGH_SCALE : LOW_SCALE))
#define RESULT(v, h) (v)
#else
#define BUFFERS __global const S *image, __global S *low, __global S *high
#define SOURCE(h) image
#define SOURCE_SIZE(h) image_size
#define INDEX(k, h) sample_index(2 * (k) + (h), n)
#define SCALED(v, h) (v)
#define RESULT(v, h) ((v) * ((h) ? HIGH_SCALE : LOW_SCALE))
#endif
#define SIZES int2 image_size, int2 low_size, int2 high_size, int high_from
