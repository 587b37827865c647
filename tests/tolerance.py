"""The errors that tests allow, by operation, each with its reason.

An operation's tolerance is one number, or one for each of its methods, steps or types. All are of results in float32,
unless a name says ``double`` or ``half``. 2⁻²⁴, or 6e-8, is the rounding error of a float32 next to 1; ulp is a unit in
the last place. Relative L2 is the norm of the error over the norm of the result.
"""

from __future__ import annotations

# -- filters ------------------------------------------------------------------------------------------------------

# Absolute, of values in [0, 1]: sums of at most a few hundred products with weights that sum to 1.
BLUR = 2e-6

# Of the largest value: sums of sums, of at most 64 terms one after the other.
BOX = 1e-6

# Relative to the range of values: weights within 2.5e-7; differences' squares, relative to σ², in float32.
BILATERAL = 2e-6

# Relative to Σ|w| · max|x|.
CONVOLVE = {
    "direct": 1e-6,  # fma, taps one after the other: errors grow as √taps · 6e-8
    "local": 1e-6,
    "fft": 2e-6,  # transforms there and back: about log2(size) · 6e-8 of the largest value
}

# Relative to the largest value of the file: sums as above.
CONVOLVE_COMMAND = 2e-6

# -- operations that are declared once: of the largest value ------------------------------------------------------

# Values are copied.
CROP = 0.0

# Wiener: transforms in float32, with an error of 1e-7, and gains up to 1 / (2 √balance) = 16. Richardson and Lucy:
# each iteration adds a few roundings of 6e-8 to the pixel.
DECONVOLVE = 2e-6

# The Gaussian is within 5e-5 of its peak, and amounts are up to 2.
SHARPEN = 1e-4

# -- glow ---------------------------------------------------------------------------------------------------------

# Of the largest value.
BLOOM = {
    "mip": 2e-6,  # at most 36 + 10 · 16 sums, weights up to 1/2 exact
    "gaussians": 3e-6,  # as above, sums over up to 8σ + 1 taps
    "constant": 1e-6,  # asked for
}

STARBURST = {
    "pattern": 0.03,  # of the envelope: interpolated from four samples of the transform
    "kernel": 0.02,  # of all light in the wrong place: linear between polar samples, twelve to a ring
    "pixel": 0.15,  # of the light around a pixel: the same in dark rings
    "sum": 1e-6,
    "convolution": 2e-6,  # of the largest value: transforms in float32
}

# -- tone and colour ----------------------------------------------------------------------------------------------

TONEMAP = {
    # Absolute, and relative where the result exceeds 1: a few operations of 2⁻²⁴, log2 and exp2 of 3 ulp.
    "operator": 2e-6,
    "transfer": 2e-6,
    "four digits": 1.2e-4,  # three.js's matrices between Rec. 709 and Rec. 2020 are rounded to four digits
    "exposure": 1e-6,  # the mean's error in stops
    "histogram exposure": 0.13,  # stops: half a bin of a quarter of a stop
    "d3d11": 1.0,  # levels of 8 bits, of the Direct3D preset: what rounding to 8 bits may flip inside
}

# Levels of the output: the operator's error is below 1e-3 of an 8-bit level, so only ties may round differently.
TONEMAP_COMMAND = {"levels": 1}

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
}

# Absolute, and relative above 1: a table's interpolation, of a few operations, between log2 and a power of 3 ulp each.
LUT = 2e-6

CONTACT_SHEET = {
    "light": 1e-6,  # sums of up to a thousand values
    "curve": 4e-6,  # an operator's, relative above 1, and a transfer's
    "levels": 1,  # of 8 bits: ties
}

WHITE_BALANCE = {
    "planckian": 6e-4,  # Kim et al.'s cubics, of (x, y)
    "daylight": 1.5e-4,  # four digits of the CIE's constants
    "image": 1e-6,  # of the largest value: three products
}

# -- metrics ------------------------------------------------------------------------------------------------------

COMPARE = {
    # Differences and squares are rounded to float32 (2⁻²⁴ each), the sum is compensated: errors average out.
    "mse": 1e-6,
    # dB: 4.3 × the relative error of the mean square.
    "psnr": 1e-5,
    # float32 windows around a local base; skimage itself in float32 is off by 1e-5.
    "ssim": 1e-6,
    # Of one pixel, where variances of 1/12 next to C2 = 9e-4 lose digits.
    "ssim map": 1e-6,
}

SSIMULACRA2 = {
    # Absolute, of means and fourth roots: variances of float32 squares next to C2 = 9e-4.
    "norm": 2e-6,
    # Of a score of 100 for equal pictures: norms have weights of up to 225.
    "score": 2e-4,
    # The same; its own program's scores have errors of float32's recursive filters, which grow with the picture.
    "program": 0.012,
}

REDUCE = {
    # Sums are compensated, so what remains is the rounding of each luminance: 3 operations of 2⁻²⁴.
    "sum": 2e-7,
    # Per value, in stops: the same rounding, and that of the products of mantissas.
    "log2": 3e-7,
}

# -- transforms ---------------------------------------------------------------------------------------------------

# Relative L2.
FFT = {
    "single": 4e-7,  # log2 N rounding errors of 2⁻²⁴, and twice as many for Bluestein's sizes
    "compute": 6e-7,  # the roots are up to 2.5 ulp of 1 off
    "double": 1e-14,
    "half": 3e-4,  # a rounding to 11 bits, each time that values are stored
}

DWT = {
    # Relative to the largest coefficient: sums of up to 104 products, up to 3 levels deep.
    "coefficients": 2e-6,
    "double": 1e-13,
    "double, smooth": 1e-12,
    # For values in [0, 1] after forward and inverse, 5 levels: well below half a level of 16 bits, 7.6e-6.
    "round trip": 3e-6,
}

SHRINK = {
    "shrink": 1e-6,  # absolute, of values about 1: a division and two products
    "mean square": 1e-11,  # relative: pairs of floats
    "denoise": 1e-6,  # absolute, of values in [0, 1]: there and back in float32
}

# -- every kernel, on small images and every OpenCL implementation ------------------------------------------------

KERNELS = {
    "curve": 4e-6,  # relative: powers by log2 and exp2 of 3 ulp each
    "blur": 1e-6,  # of the largest value: taps one after the other
    "operator": 4e-6,  # absolute, and relative above 1: as "curve", of one operator and one transfer
    "wavelet": 3e-6,  # of the largest value: there and back
    "fft": 6e-7,  # relative L2; computed roots are up to 2.5 ulp of 1 off
    "fft double": 1e-14,
}
