"""Parameters of operations that are worth trying: each operation has some that its tests go through."""

from __future__ import annotations

from gpuops.ops.bloom import BloomParams
from gpuops.ops.blur import BlurParams
from gpuops.ops.convert import ConvertParams
from gpuops.ops.crop import CropParams
from gpuops.ops.deconvolve import DeconvolveParams
from gpuops.ops.denoise import DenoiseParams
from gpuops.ops.filter import FilterParams
from gpuops.ops.flip import FlipParams
from gpuops.ops.grade import GradeParams
from gpuops.ops.ocio import OcioParams
from gpuops.ops.resize import ResizeParams
from gpuops.ops.rotate import RotateParams
from gpuops.ops.sharpen import SharpenParams
from gpuops.ops.thumbnail import ThumbnailParams
from gpuops.ops.tonemap import TonemapParams
from gpuops.params.kinds import Params
from gpuops.params.region import Region

#: By the operation's name. Those that need files beside the image are in their own tests.
CASES: dict[str, tuple[Params, ...]] = {
    "bloom": (
        BloomParams(),
        BloomParams(threshold=0.8, knee=0.25, strength=0.5, blend="add", exposure=1.0),
        BloomParams(strength=0.3, karis=False, border="wrap-x"),
        BloomParams(method="gaussians", radius=0.05),
        BloomParams(method="fft", radius=0.2),
        BloomParams(strength=0.3, tonemap="agx"),
        BloomParams(preset="d3d11"),
    ),
    "blur": (
        BlurParams((1.5, 1.5)),
        BlurParams((2.0, 7.0), border="wrap"),
        BlurParams((3.0, 0.0), border="constant:0.25", truncate=3.0),
        BlurParams(kind="box", radius=(2, 2), border="nearest"),
        BlurParams(kind="disc", radius=(2.5, 2.5)),
        BlurParams(kind="motion", length=5.0, angle=30.0, border="mirror"),
        BlurParams(kind="median", radius=(1, 1)),
        BlurParams((1.5, 1.5), kind="bilateral", sigma_color=0.3),
        BlurParams(preset="d3d11"),
    ),
    "convert": (ConvertParams(),),
    "crop": (CropParams(Region(25, 30, 50, 40, True)), CropParams(Region(0, 0, 1, 100, True))),
    "deconvolve": (
        DeconvolveParams(sigma=1.2),
        DeconvolveParams(kind="disc", radius=2.5, reg="constant", balance=0.02),
        DeconvolveParams(kind="motion", length=6, angle=30, balance=0.001),
        DeconvolveParams("richardson-lucy", sigma=1.5, iterations=2),
        DeconvolveParams("richardson-lucy", "disc", radius=2.5, iterations=2, filter_epsilon=0.3),
        DeconvolveParams("richardson-lucy", "motion", length=6, angle=-20, iterations=2),
    ),
    "denoise": (
        DenoiseParams(),
        DenoiseParams(0.05, "visu", denoise_space="rgb", wavelet="db4", levels=1),
        DenoiseParams(shrink="hard", threshold="0.1", wavelet="haar", levels=3, cycle_spins=2),
        DenoiseParams(shrink="garrote", denoise_space="ycbcr", mode="periodization"),
    ),
    "filter": (
        FilterParams("lowpass", ("0.1",)),
        FilterParams("highpass", ("0.05",), "butterworth", 3, border="wrap", offset=0.25),
        FilterParams("bandpass", ("0.1:0.3",), border="wrap"),
        FilterParams("bandstop", ("0.1:0.3",), "ideal"),
        FilterParams("notch", ("0.2,0.1,0.1", "-0.3,0.25,0.05")),
    ),
    "flip": (FlipParams("horizontal"), FlipParams("vertical"), FlipParams("both")),
    "grade": (
        GradeParams(exposure=-1.5),
        GradeParams(0.5, (1.2, 0.9, 0.7), (-0.1, 0.0, 0.05), (1.3, 1.0, 0.8), 0.6),
        GradeParams(contrast=1.4, pivot=0.3, saturation=1.7),
        GradeParams(-1.0, curve=((0, 0.02), (0.25, 0.2), (0.6, 0.7), (1, 0.7), (3, 2))),
        GradeParams(0.3, (1.1,), (-0.05,), (0.9, 1.1, 1.2), 1.2, 0.7, 0.18, 0.0, ((0, 1), (1, 0))),
    ),
    "ocio": (
        OcioParams("cg", to="ACEScg"),
        OcioParams("studio", display="Gamma 2.2 Rec.709 - Display"),
        OcioParams("cg", "sRGB - Texture", "ACES2065-1"),
    ),
    "resize": (
        ResizeParams(scale=(0.4, 0.4)),
        ResizeParams(scale=(1.7, 0.3), filter="mitchell"),
        ResizeParams(scale=(0.07, 2.3), filter="catmull-rom"),
        ResizeParams(size=(23, 19), fit="cover"),
        ResizeParams(size=(16, 50), fit="stretch", filter="area"),
        ResizeParams(size=(None, 11), filter="nearest"),
        ResizeParams(size=(61, 17), filter="area", fit="cover"),
    ),
    "rotate": (
        RotateParams(30),
        RotateParams(90),
        RotateParams(-90, expand=False),
        RotateParams(180),
        RotateParams(-7.5, expand=False, background=0.5),
        RotateParams(135, background=1),
        RotateParams(auto_orient=True),
    ),
    "sharpen": (
        SharpenParams(),
        SharpenParams(2.5, 0.7, 0.05),
        SharpenParams(1.5, 2, 0.02, "colours", "wrap-x"),
    ),
    "thumbnail": (
        ThumbnailParams((13, 13)),
        ThumbnailParams((None, 11), filter="mitchell"),
        ThumbnailParams((7, 9), "cover", "area"),
        ThumbnailParams((61, 17), "stretch", "catmull-rom", enlarge=True, shrink_on_load=False),
        ThumbnailParams((61, 17), "cover"),
    ),
    "tonemap": (
        TonemapParams(exposure=0.5),
        TonemapParams("reinhard-extended"),
        TonemapParams("sigmoid", parameters={"contrast": 1.6}, white_balance=(1.2, 1.0, 0.8)),
        TonemapParams("hable", 1.0, transfer="gamma:2.4", gamut="hue"),
        TonemapParams("khronos-neutral", transfer="pq", meter="histogram"),
        TonemapParams("reinhard-local"),
        TonemapParams(preset="d3d11"),
    ),
}
