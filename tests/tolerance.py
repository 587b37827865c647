"""The errors that tests allow, by operation, each with its reason.

An operation's tolerance is one number, or one for each of its methods, steps or types. All are of results in float32,
unless a name says ``double`` or ``half``. 2⁻²⁴, or 6e-8, is the rounding error of a float32 next to 1; ulp is a unit in
the last place. Relative L2 is the norm of the error over the norm of the result.

Limits leave GPUs and other compilers twice the error that a CPU makes, or more.
"""

# -- what any operation may have ----------------------------------------------------------------------------------

# Relative: one rounding of 2⁻²⁴, which is 5.96e-8.
ROUNDING = 6e-8

# Relative, or of the largest value: up to 16 roundings of 2⁻²⁴. So many have values that are a few products and sums
# away, or the same work in another order, and means, whose roundings average out.
ROUNDINGS = 1e-6

# Relative: a value that a half stores, which has 11 bits.
HALF = 2.0**-11

# Absolute, of values about 1, in float64: up to 18 roundings of 2⁻⁵³, as formulas have that run on the host.
DOUBLE = 2e-15

# -- filters ------------------------------------------------------------------------------------------------------

BLUR = {
    # Absolute, of values in [0, 1]: sums of at most a few hundred products with weights that sum to 1.
    "sums": 2e-6,
    # Of a Gaussian's peak: what its interpolation between the samples of coarse grids leaves.
    "coarse": 5e-5,
    # Of the largest value: a transform there and one back.
    "fft": 4e-6,
    # Of the largest weight: the reference takes 100 × 100 points in a pixel, of which an edge that crosses it miscounts
    # half a point in a row. Rows average this out, but not where the edge is parallel to them, as a line's are.
    "disc": 2e-3,
    "line": 0.03,
}

# Of the largest value: sums of sums, of at most 64 terms one after the other.
BOX = 1e-6

BILATERAL = {
    # Relative to the range of values: weights within 2.5e-7; differences' squares, relative to σ², in float32.
    "definition": 2e-6,
    # Absolute: skimage's weights by colour are those of 100,000 bins.
    "skimage": 1e-4,
}

# Relative to Σ|w| · max|x|.
CONVOLVE = {
    "direct": 1e-6,  # fma, taps one after the other: errors grow as √taps · 6e-8
    "local": 1e-6,
    "fft": 2e-6,  # transforms there and back: about log2(size) · 6e-8 of the largest value
}

# Relative to the largest value of the file: sums as above.
CONVOLVE_COMMAND = 2e-6

# -- operations that are declared once: of the largest value ------------------------------------------------------

CHAIN = {
    # Of the largest value: steps in one kernel, whose compiler rounds products and sums at other places.
    "fused": 2e-6,
    # Relative, and a tenth of it absolute: the same before powers, which multiply errors by their exponent, and after
    # measurements of light.
    "powers": 2e-5,
    # Relative: EXR holds products with alpha, and the quotient is rounded; 2 ulp.
    "quotient": 2.4e-7,
}

# Crop, flip, and convert without another depth: values are copied.
COPIED = 0.0

DECONVOLVE = {
    # Wiener: transforms in float32, with an error of 1e-7, and gains up to 1 / (2 √balance) = 16. Richardson and Lucy:
    # each iteration adds a few roundings of 6e-8 to the pixel, relative to it.
    "definition": 2e-6,
    # Absolute: skimage's has other neighbours at the edges, of which 4e-7 is left 50 pixels inside.
    "skimage's wiener": 5e-6,
    # Relative: on coarse grids Gaussians are within 5e-5 of their peak, and an iteration averages what they are off.
    "skimage's richardson-lucy": 2.5e-5,
}

OCIO = {
    # Of the largest value, or relative to each, and to 1 where it is less: OpenColorIO's CPU processor has powers and
    # tables of its own in float32, and appearance models are a dozen of powers one after the other.
    "transform": 1e-4,
    # The same of inverses, whose slopes are those of curves near black and near white.
    "back": 5e-4,
    # Relative: there and back.
    "round trip": 2e-3,
    # Absolute, of values about 1: a place in a table to 1e-6.
    "sampled": 1e-5,
    "dark": 3e-4,  # PQ is steep near black: a rounding of the brightest channel's light is seen in a dark one
}

PROFILE_TABLES = {
    # Absolute, of linear light 0 … 1, and of its sRGB signal: a profile's own steps may lie between the 65 of an axis.
    "light": 2e-3,
    "signal": 4e-3,
    # At the steps of a table of 17, which 65 steps have as well: 16-bit codes of CIELAB and float32.
    "steps": 1e-4,
}

INKS = {
    # Absolute, of the sRGB signal of Little CMS's light in float32; the curve is steep in the dark.
    "signal": 1e-5,
    # The same of gray's codes, at all of which its table is evaluated.
    "codes": 1e-5,
    # The same of gray in between, where Little CMS rounds to 16 bits before the table and behind it.
    "gray": 4e-5,
}

GRADE = {
    # Of the largest value: a GPU's own powers, within 5e-7 · |p| · (1 + |log2 x|) each.
    "grade": 1e-5,
    # Relative, and absolute below 1: the same, up to 20 stops away from 1.
    "far": 2e-5,
    # Of the largest value: one that sRGB's curve follows, whose slope at black is 12.92 and elsewhere at most 3.
    "encoded": 3e-5,
    # Relative, and absolute below 1: cubics in float64, of values up to 50.
    "curve": 1e-13,
}

REGISTER = {
    "double": 1e-11,
    # Relative to the images' energy.
    "error": 1e-5,
    # Radians: of a smooth image most frequencies are near rounding, and each has as much weight as another.
    "phase": 3e-3,
}

# Places of periodic components, in cycles per picture: the window's shape is that of infinitely many pixels; noise is
# 0.1 to 1 of the components' amplitude.
PEAKS = {"place": 1e-3, "noise": 0.05}

# Transforms in float32 there and back, each with an error of 3e-7 of the root mean square, and the filter's own.
FILTER = 2e-6

# A share of two values in [0, 1]: four roundings.
MIX = 2.5e-7

MERGE = {
    # Absolute, of values in [0, 1]: contrast is a difference of values next to each other, of 4 roundings of them. Its
    # share in the weights, and with it the result, is off by so much where pictures hardly differ.
    "fusion": 2e-5,
    "peer": 2e-3,  # absolute: OpenCV's luma has red and blue exchanged
}

# Weights and sums in float32 along both axes, whose negative lobes add a half to both: about 16 roundings.
RESIZE = 1e-6

# Float32's rounding of 16 products, and weights of positions within 2e-9.
ROTATE = 2e-6

# Gaussians of noise, which has no peak, are within 1e-5, and amounts are up to 2.
SHARPEN = 2e-5

# -- glow ---------------------------------------------------------------------------------------------------------

# Of the largest value.
BLOOM = {
    "mip": 2e-6,  # at most 36 + 10 · 16 sums, weights up to 1/2 exact
    "gaussians": 3e-6,  # as above, sums over up to 8σ + 1 taps
    "constant": 1e-6,  # asked for
    # Absolute, after an operator to [0, 1], times alpha: glow of light up to 320, which the operator compresses.
    "displayed": 5e-6,
    # The same by Gaussians, which are within 5e-5 of their peak. Three of them overlap.
    "displayed gaussians": 2e-4,
}

STARBURST = {
    "pattern": 0.03,  # of the envelope: interpolated from four samples of the transform
    "kernel": 0.02,  # of all light in the wrong place: linear between polar samples, twelve to a ring
    "pixel": 0.15,  # of the light around a pixel: the same in dark rings
    "sum": 1e-6,
    "convolution": 2e-6,  # of the largest value: transforms in float32
    # Relative, of means over 30 samples of the pattern: interpolation where it is bright, and where it is 1e-6 of that.
    "ray": 0.05,
    "between rays": 0.4,
    "cie": 0.02,  # absolute: the fits' errors, of colour matching functions up to 1.8
    "small": 1e-4,  # relative: the light that leaves a pixel is a thousandth, with roundings of 2⁻²⁴ of all light
}

# -- tone and colour ----------------------------------------------------------------------------------------------

TONEMAP = {
    # Absolute, and relative where the result exceeds 1: a few operations of 2⁻²⁴, log2 and exp2 of 3 ulp.
    "operator": 2e-6,
    "transfer": 2e-6,
    "four digits": 1.2e-4,  # three.js's matrices between Rec. 709 and Rec. 2020 are rounded to four digits
    "exposure": 1e-6,  # the mean's error in stops
    "metered": 3e-6,  # an operator's, after an exposure's
    "product": 3e-7,  # relative: an exposure, and the product with it
    "pivot": 5e-5,  # four digits of a code, whose slope to light is 1 there
    "histogram exposure": 0.13,  # stops: half a bin of a quarter of a stop
    "d3d11": 1.0,  # levels of 8 bits, of the Direct3D preset: what rounding to 8 bits may flip inside
    # Absolute: the glow of one level of the 8 bits that the bloom is stored with.
    "d3d11 flip": 0.6 / 255,
}

# Levels of the output: the operator's error is below 1e-3 of an 8-bit level, so only ties may round differently.
TONEMAP_COMMAND = {
    "levels": 1,
    # Absolute: half a level of 16 bits is 7.6e-6, and PQ is so steep at black that it makes 1e-5 of 1e-8.
    "signal": 2e-5,
}

TONEMAP_LOCAL = {
    # Relative, of a gain of a given scale: blurs within 5e-5 of their peak, float32.
    "reinhard-local": 1e-4,
    # Around the threshold, where either of two scales may be chosen: by the blurs' error.
    "threshold": 1e-3,
    # Relative to sigma_color: the largest error of a grid with 4 cells and 3 bins a sigma, and the root of the mean
    # square.
    "grid": 0.1,
    "grid rms": 0.004,
    # Relative: exponents of 30 stops in float32 and log2 and exp2 of 3 ulp.
    "durand": 2e-5,
    # Stops: a quarter's bin, within which percentiles are interpolated.
    "ends": 0.25,
    # Relative: sums of blurs and grids over even light.
    "even": 2e-6,
}

LUT = {
    # Absolute, and relative above 1: a table's interpolation, of a few operations, between log2 and a power of 3 ulp.
    "table": 2e-6,
    # Absolute: a table of sums of products, with interpolation alone.
    "affine": 3e-7,
    # Absolute: OpenColorIO's own float32, which is up to 1.8e-6 off where a file gives a range.
    "OpenColorIO": 3e-6,
}

CONTACT_SHEET = {
    "light": 1e-6,  # sums of up to a thousand values
    "curve": 4e-6,  # an operator's, relative above 1, and a transfer's
    "levels": 1,  # of 8 bits: ties
}

WHITE_BALANCE = {
    "planckian": 6e-4,  # Kim et al.'s cubics, of (x, y)
    "daylight": 1.5e-4,  # four digits of the CIE's constants
    "image": 1e-6,  # of the largest value: three products
    "isotherm": 2e-4,  # the cosine of the angle to the locus, whose direction is a difference over a kelvin
    "D65": 1e-3,  # of the matrix: D65 has 6504 K to the kelvin, and (x, y) four digits
    "Bradford": 1e-7,  # seven published digits
}

COLOUR = {
    # Relative: a curve by log2 and exp2 of 3 ulp, as TONEMAP's "transfer".
    "curve": 2e-6,
    # Absolute, where the curve's sum with 0.055 is next to 0.
    "near black": 3e-7,
    # Absolute: an integer's product with 1/255 or 1/65535, two roundings of 2⁻²⁴, with a margin.
    "alpha": 1.5e-7,
    # Absolute, of signals in float64: PQ's of light 0 is 7e-7, and published constants have seven digits and more.
    "signal": 1e-6,
    # Of a matrix: published numbers have four digits at least. Of the largest value: three of them, of four and of five
    # digits.
    "published matrix": 6e-5,
    "four digits": 1e-4,
    "five digits": 1e-5,
    # Absolute, of a profile's matrix and of light by it: numbers of 16 fractional bits are off by 7.6e-6, and an
    # inverse matrix takes three of them, times up to two. References have five digits.
    "profile": 5e-5,
    "profile's curve": 2e-5,
    # Absolute, of light that files of 16 bits hold in a space of their own: half a level, the curve's slope, a profile
    # and a matrix of four digits.
    "stored": 3e-4,
    # Absolute, of light: a signal in [0, 1] that a half stores, and the curve's slope of 2.3.
    "half signal": 1e-3,
    # As above, by RGBE, which shares an exponent, and truncates.
    "rgbe": 1e-2,
}

# -- metrics ------------------------------------------------------------------------------------------------------

COMPARE = {
    # Differences and squares are rounded to float32 (2⁻²⁴ each), the sum is compensated: errors average out.
    "mse": 1e-6,
    # dB: 4.3 × the relative error of the mean square.
    "psnr": 1e-5,
    # Variances are centred in each window: they are within 1e-6 of themselves, and in the mean errors average out.
    "ssim": 1e-6,
    # Of one pixel.
    "ssim map": 1e-6,
    # Relative: means are sums of two floats.
    "shrunk": 1e-13,
}

SSIMULACRA2 = {
    # Absolute, of means and fourth roots: variances of float32 squares next to C2 = 9e-4.
    "norm": 2e-6,
    # Of a score of 100 for equal pictures: norms have weights of up to 225.
    "score": 2e-4,
    # The same, of cube roots of 10,000, which have errors of 2⁻²⁰ each.
    "bright": 1e-3,
    # The same; its own program's scores have errors of float32's recursive filters, which grow with the picture.
    "program": 0.012,
}

DELTA_E = {
    # Absolute. Lab: a* is 500 times the difference of two cube roots, of 2⁻²² each. ITP: 720 times differences of PQ,
    # of 2⁻²¹ each, by factors of up to 4.4.
    "76": 5e-4, "2000": 1e-4, "itp": 4e-3, "relative": 3e-6,
}  # fmt: skip

FLIP = {
    # Absolute, of errors 0 … 1: sums of up to 40 products of differences in float32, then powers by log2 and exp2.
    "pixel": 5e-6,
    "mean": 2e-7,
    # Relative: filters see the pictures' difference itself, so that small errors lose no digits to cancellation.
    "small": 1e-5,
    # The authors' program and OpenImageIO filter both pictures by themselves, in float32.
    "peers": 1e-4,
}

# Of pictures of 8 bits that differ by noise, by the names of figures; those that are not here are exact.
FIGURES = {
    # Products with 1/255, of 2⁻²⁴.
    "max": {"rel": 1e-6}, "mean": {"rel": 1e-6}, "rmse": {"rel": COMPARE["mse"]}, "psnr": {"abs": COMPARE["psnr"]},
    "ssim": {"abs": COMPARE["ssim"]}, "ssim-skimage": {"abs": COMPARE["ssim"]}, "ms-ssim": {"abs": COMPARE["ssim"]},
    # Light of 8 bits by the sRGB curve, within COLOUR's "curve"; the rest as of the functions themselves.
    "flip": {"abs": FLIP["pixel"]}, "hdr-flip": {"abs": FLIP["pixel"]},
    "de76": {"abs": DELTA_E["76"]}, "de2000": {"abs": DELTA_E["2000"]}, "mean-de2000": {"abs": DELTA_E["2000"]},
    "de-itp": {"abs": DELTA_E["itp"]}, "ssimulacra2": {"abs": SSIMULACRA2["score"]},
    # A share of pixels, by two products.
    "z-test": {"rel": 1e-12},
    # 596 times a power of light: of the mean square of 16 million errors, and of means over windows.
    "pu-psnr": {"abs": 1e-4}, "pu-ssim": {"abs": 1e-5},
}  # fmt: skip

# Absolute, of values up to 595: 596 times a power of up to 1.9, within 2⁻²⁰ with a GPU's own logarithms.
PU21 = 1.5e-3

REDUCE = {
    # Sums are compensated, so what remains is the rounding of each luminance: 3 operations of 2⁻²⁴.
    "sum": 2e-7,
    # Per value, in stops: the same rounding, and that of the products of mantissas.
    "log2": 3e-7,
    # Stops: a mean of logarithms of float32, with weights.
    "centre": 2e-6,
    # Relative, of gray: no luminance is rounded, so what is left is that of the compensated sum and of the result, and
    # of the logarithm's.
    "gray sum": 5e-8,
    "gray log": 1e-7,
    # Relative, of channels of 8 bits: sums of 256 products in float64.
    "codes": 1e-13,
    # Relative: sums of four values have three roundings. Those of pixels come from integers, or by other kernels.
    "mip": 2e-7,
    "mip of pixels": 5e-7,
}

# -- transforms ---------------------------------------------------------------------------------------------------

# Relative L2.
FFT = {
    "single": 4e-7,  # log2 N rounding errors of 2⁻²⁴, and twice as many for Bluestein's sizes
    "compute": 6e-7,  # the roots are up to 2.5 ulp of 1 off
    "there and back": 8e-7,  # twice "single"
    "double": 2e-15,  # as "single", of 2⁻⁵³
    "half": 3e-4,  # a rounding to 11 bits, each time that values are stored; root of the mean square
    "half, eight times": 9e-4,  # √8 · "half": four passes there and four back
    # Not L2 but of the largest value. Of a million errors the largest is five times the root of the mean square.
    "value": 1e-6,
    "half value": 2e-3,  # of values in [0, 1], twice two passes: their root of the mean square is 0.6
    "picture": 1e-5,  # of a picture's range: logarithms of 14 stops and percentiles, of values with errors of 1e-6
}

# Relative L2, with all ways to compute, many of which nobody would choose: Bluestein's convolution has three
# transforms, radix 2 has the most stages, and computed roots are up to 2.5 ulp of 1 off.
FFT_EVERYWHERE = {"single": 2e-6, "double": 2e-14}

DWT = {
    # Relative to the largest value or coefficient: sums of up to 104 products, up to 3 levels deep.
    "coefficients": 2e-6,
    "double": 1e-13,
    "double, smooth": 1e-12,
    "deep": 8e-6,  # relative: 30 levels with two passes of two roundings each
    "taps": 1e-15,  # absolute, of taps about 1 in float64: a few roundings of 2⁻⁵³
    "PyWavelets' 9/7": 1e-12,  # its table of them has errors of 6e-13
    # For values in [0, 1] after forward and inverse, 5 levels: well below half a level of 16 bits, 7.6e-6.
    "round trip": 3e-6,
}

SHRINK = {
    "shrink": 1e-6,  # absolute, of values about 1: a division and two products
    "mean square": 1e-12,  # relative: pairs of floats, each sum within 2⁻⁴⁶
    # Relative: a mean square less the noise's loses up to four bits of the 1e-7 that medians and coefficients have.
    "threshold": 1e-5,
    # Absolute, of coefficients up to 8: theirs, and up to twice a threshold's.
    "shrunk": 5e-6,
    "denoise": 1e-6,  # absolute, of values in [0, 1]: there and back in float32
    "colours": 3e-6,  # absolute, of values in [0, 1]: as well to another basis and back, with factors up to 1.8
    "psnr": 1e-12,  # relative: sums in float64 in another order
}

# -- every kernel, on small images and every OpenCL implementation ------------------------------------------------

KERNELS = {
    "curve": 4e-6,  # relative: powers by log2 and exp2 of 3 ulp each
    "near black": 1e-7,  # absolute: where the curve's sum with 0.055 is next to 0
    "blur": 1e-6,  # of the largest value: taps one after the other
    "wide blur": 1e-5,  # of the largest value: as BLUR's, of noise, which has no peak
    # Relative: the same work by kernels that read and write pixels, and by those between planes, with a curve each way.
    "other kernels": 1e-5,
    "operator": 4e-6,  # absolute, and relative above 1: as "curve", of one operator and one transfer
    "wavelet": 3e-6,  # of the largest value: there and back
    "fft": 6e-7,  # relative L2; computed roots are up to 2.5 ulp of 1 off
    "fft double": 2e-15,
}

# -- devices beside each other ------------------------------------------------------------------------------------

# The largest differences between devices, where they are above one level of 16 bits.
ACROSS_DEVICES = {
    "ocio-1": 1e-4  # a view of ACES 2.0, whose appearance model is a dozen of powers one after the other
}
