"""The command lines of corpus.py: every option on several pictures, every operation whole and by rows, and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, cycle, product
from pathlib import Path

#: Pictures of every kind that operations treat in their own way; sizes are odd, prime, even, small and one.
PICTURES = (
    "gray8.png", "rgb8.png", "rgba8.png", "rgb16.png", "grayalpha16.png", "photo.jpg", "half.exr", "rgba.exr",
    "gray.exr", "wild.exr", "float.tif", "panorama.hdr", "one.png", "column.png",
)  # fmt: skip

BORDERS = ("reflect", "mirror", "nearest", "wrap", "constant")
OPERATORS = (
    "linear", "reinhard", "reinhard-channels", "reinhard-extended", "reinhard-extended-channels",
    "reinhard-devlin",
    "aces-narkowicz", "aces-hill", "agx", "agx-punchy", "agx-golden", "khronos-neutral", "hable", "drago",
    "sigmoid",
    "reinhard-local", "durand",
)  # fmt: skip
BLURS = (
    "--sigma 2", "--sigma 9", "--sigma-x 3 --sigma-y 0.5", "--sigma 40 --method multirate",
    "--sigma 2 --method direct",
    "--sigma 2 --method local --truncate 3", "--kind box --radius 3",
    "--kind box --radius 3 --method direct", "--kind disc --radius 4", "--kind disc --radius 4 --method fft",
    "--kind motion --length 9 --angle 30", "--kind median --radius 1", "--kind median --radius 3",
    "--kind bilateral --radius 3 --sigma 1.5 --sigma-color 0.1",
    "--kind bilateral --sigma 9 --sigma-color 0.2",
    "--preset d3d11", "--sigma 0", "--sigma 2 --space linear", "--sigma 2 --space encoded --alpha drop",
)  # fmt: skip
BLOOMS = (
    "", "--strength 0.4 --radius 0.3", "--threshold 2 --knee 1", "--blend add --threshold 1",
    "--method gaussians",
    "--method fft", "--method fft --blades 7 --blade-angle 10", "--method fft --roundness 0.5", "--no-karis",
    "--kernel IN/kernel.png", "--tonemap agx", "--tonemap reinhard --exposure 1", "--border wrap-x",
    "--reads direct",
    "--preset d3d11",
)  # fmt: skip
TONEMAPS = (
    "--exposure 1.5", "--meter mean --key 0.3", "--meter histogram --percentiles 10,90", "--meter center",
    "--meter-region 2,3,10,9", "--white-balance gray-world", "--white-balance 4500K",
    "--white-balance 1.2,1,0.8",
    "--operator reinhard-extended --white 8", "--operator sigmoid --parameter contrast=1.9",
    "--transfer gamma:2.2",
    "--transfer pq", "--transfer linear", "--operator linear --gamut hue", "--dither --seed 3",
    "--dither --noise blue",
    "--dtype uint16", "--dtype float", "--method local", "--preset d3d11", "--preset d3d11 --blur --no-bloom",
    "--lut IN/table.cube", "--lut IN/table.cube --lut-input log2:-8:8 --lut-output linear",
    "--contact-sheet --tile-width 40 --operators agx,hable --stops -1,1",
)  # fmt: skip
FFTS = (
    "", "--norm backward", "--norm forward --full", "--half --no-shift", "--shift", "--window hann",
    "--window blackman", "--pad pow2", "--pad fast", "--pad 11", "--method global",
    "--method local --twiddle compute",
    "--radix 4", "--radix 32", "--precision double", "--precision half",
)  # fmt: skip
VIEWS = ("log-magnitude", "magnitude", "phase", "power", "real", "imag")
FILTERS = (
    "--filter lowpass --cutoff 0.1", "--filter highpass --cutoff 0.05 --filter-shape butterworth --order 3",
    "--filter bandpass --cutoff 0.1:0.3 --filter-shape ideal", "--filter notch --cutoff 0.1,0.2",
    "--filter lowpass --cutoff 0.2 --precision double", "--filter lowpass --cutoff 0.2 --pad none",
)  # fmt: skip
WAVELETS = ("haar", "bior2.2", "bior4.4", "dd9/7", "dd13/7", "db4", "sym5", "coif1", "vc2-fidelity")
MODES = (
    "mirror",
    "symmetric",
    "periodization",
    "zero",
    "constant",
    "periodic",
    "smooth",
    "reflect",
    "antisymmetric",
)
DWTS = (
    "--levels 3", "--integer --wavelet bior2.2", "--integer --wavelet haar --levels 2", "--threshold 0.1",
    "--threshold visu --shrink soft", "--threshold bayes --reconstruct",
    "--threshold 0.05 --shrink hard --reconstruct",
    "--threshold 0.05 --shrink garrote --reconstruct", "--keep 5", "--keep 5 --reconstruct --json",
    "--threshold bayes --reconstruct --cycle-spins 4",
)  # fmt: skip
WAYS = ("lifting", "filterbank", "laan", "in-place", "strip")
#: What works on light unless it is told to work on stored values, for pictures with alpha.
ENCODED = (
    "blur --sigma 2", "blur --sigma 2 --method direct", "bloom --threshold 0.5", "tonemap --operator agx",
    "tonemap --preset d3d11", "resize --size 40x30", "sharpen", "blur --sigma 2 then tonemap then sharpen",
    "tonemap then resize --size 40x30",
)  # fmt: skip
#: Every operation; each is also done by rows, for which LARGE stands for a picture and SMALL for a limit.
STEPS = (
    "tonemap --operator agx", "tonemap --operator reinhard-extended", "tonemap --method local",
    "tonemap --exposure mean",
    "tonemap --meter histogram", "tonemap --white-balance gray-world", "tonemap --preset d3d11",
    "tonemap --operator durand",
    "blur --sigma 2", "blur --sigma 15", "blur --sigma 40 --method multirate", "blur --kind box --radius 5",
    "blur --kind disc --radius 4", "blur --kind motion --length 9 --angle 30",
    "blur --kind median --radius 2",
    "blur --kind bilateral --sigma 2 --sigma-color 0.1", "blur --sigma 2 --border wrap",
    "blur --preset d3d11",
    "bloom", "bloom --radius 0.3 --border wrap", "bloom --method gaussians", "bloom --method fft",
    "bloom --preset d3d11",
    "bloom --kernel IN/kernel.png", "bloom --tonemap agx", "convolve --kernel IN/kernel.png",
    "convolve --kernel IN/colours.exr --method fft", "convolve --kernel IN/kernel.png --border wrap",
    "crop --region 3,7,90,300", "crop --region 10%,20%,50%,60%", "convert --dtype half",
    "convert --colour display-p3",
    "filter --kind lowpass --cutoff 0.1",
    "filter --kind bandpass --cutoff 0.1:0.3 --shape butterworth", "flip --axis horizontal",
    "flip --axis vertical",
    "grade --exposure 1 --contrast 1.2", "grade --saturation 0.5", "rotate --angle 90",
    "rotate --angle 180", "rotate --angle 12.5",
    "resize --size 80x250", "resize --scale 2", "resize --size 40x30 --filter box",
    "resize --scale 0.3 --filter lanczos",
    "deconvolve --sigma 1.5", "deconvolve --sigma 1.5 --method richardson-lucy --iterations 5", "sharpen",
    "sharpen --luminance --sigma 3", "mix --picture IN/large2.exr --amount 0.3",
    "register --reference IN/large2.exr",
    "blur --sigma 2 then tonemap then sharpen",
    "rotate --angle 90 then blur --sigma 3 then resize --scale 0.5",
    "filter --kind lowpass --cutoff 0.2 then rotate --angle 270 then sharpen",
    "blur --sigma 4 then write ASIDE then tonemap",
    "flip --axis vertical then blur --sigma 2 --border wrap",
    "crop --region 0,40,160,200 then filter --kind highpass --cutoff 0.05",
)  # fmt: skip
#: What else goes by rows; each is done as it is, and with a limit.
BY_ROWS = (
    "fft IN/large.exr -o OUT.npz", "fft IN/large.png -o OUT.npz --half --pad pow2",
    "fft IN/large.png -o OUT.png",
    "fft IN/large4.exr -o OUT.png --view phase", "fft IN/large.exr -o IN/large.npz",
    "ifft IN/large.npz -o OUT.exr",
    "fft IN/large.exr -o OUT.exr --filter lowpass --cutoff 0.1", "dwt IN/large.exr -o OUT.npz --levels 3",
    "dwt IN/large.exr -o IN/large-dwt.npz --wavelet db4", "idwt IN/large-dwt.npz -o OUT.exr",
    "dwt IN/large.png -o OUT.png --threshold bayes --reconstruct", "dwt IN/large.png -o OUT.npz --keep 5",
    "dwt IN/large.png -o OUT.npz --integer --wavelet bior2.2 --method in-place",
    "info IN/large.exr --stats --histogram", "info IN/large4.exr --json --stats",
    "info IN/large.npz --json --stats",
    "compare IN/large.exr IN/large2.exr -o OUT.png", "compare IN/large.exr IN/large2.exr --json",
    *(f"compare IN/large.exr IN/large2.exr --metric {name}" for name in (
        "ssim", "ssim-skimage", "ms-ssim", "flip", "hdr-flip", "de76", "de2000", "de-itp", "pixelmatch",
        "pixelmatch-window", "within-radius", "pu-psnr", "pu-ssim",
    )),
    "compare IN/large.exr IN/large2.exr --ignore 3,5,50,70",
    "compare IN/large.png IN/turned.tif --max-error 0.1",
)  # fmt: skip
#: Suites, frames, pages and layers.
SEVERAL = (
    "regress IN/new IN/old", "regress IN/new IN/old --json OUT.json", "regress IN/new IN/old --max-error 0.5",
    "regress IN/new IN/old --metric ssim --metric flip", "regress IN/new IN/none",
    "regress IN/new IN/old --idiff-compatible",
    "blur IN/moving.gif --sigma 2 --frames all -o OUT.gif", "convert IN/moving.gif --frames 2 -o OUT.png",
    "convert IN/pages.tif --frames all -o OUT.tif", "info IN/pages.tif", "info IN/moving.gif --json",
    "info IN/layers.exr",
    "convert IN/layers.exr --layer diffuse -o OUT.exr", "compare IN/layers.exr IN/layers.exr --layer diffuse",
    "blur IN/layers.exr --sigma 1 -o OUT.png", "merge IN/rgb8.png IN/other.png -o OUT.png",
    "blur IN/rgb8.png IN/photo.jpg --sigma 1 -o IN/many-{stem}.png",
    "blur IN/rgb8.png --sigma 1 --memory 100K -o OUT.png",
    "mix IN/rgb8.png --picture IN/other.png --amount 0.25 -o OUT.png",
    "register IN/rgb8.png --reference IN/other.png -o OUT.png",
)  # fmt: skip
REFUSED = (
    "blur IN/rgb8.png -o OUT.png --sigma -1", "blur IN/none.png -o OUT.png --sigma 1",
    "blur IN/rgb8.png --sigma 1",
    "blur IN/rgb8.png -o OUT.png --sigma 1 --sigma 2", "blur IN/rgb8.png -o OUT.png --kind bok",
    "blurr IN/rgb8.png",
    "tonemap IN/half.exr -o OUT.png --operator aces", "tonemap IN/half.exr -o OUT.png --parameter a=1",
    "bloom IN/half.exr -o OUT.exr --blades 2 --method fft", "fft IN/rgb8.png -o OUT.npz --view phase",
    "fft IN/rgb8.png -o OUT.txt", "ifft IN/rgb8.png -o OUT.png", "idwt IN/rgb8.png -o OUT.png",
    "dwt IN/rgb8.png -o OUT.npz --wavelet nothing", "dwt IN/rgb16.png -o OUT.npz --integer --wavelet db4",
    "convolve IN/rgb8.png -o OUT.png", "compare IN/rgb8.png IN/half.exr", "info IN/none.png",
    "blur IN/rgb8.png -o IN/rgb8.png --sigma 1", "blur IN/rgb8.png IN/gray8.png -o OUT.png --sigma 1",
    "tonemap IN/half.exr -o OUT.png --preset d3d11 --operator agx",
)  # fmt: skip


def lines() -> list[str]:
    """All command lines: IN stands for the inputs' folder, OUT for the path of an output without its ending."""
    found = chain(_filters(), _tone(), _transforms(), _rows(), _others(), SEVERAL, REFUSED)
    return list(dict.fromkeys(found))


def _filters() -> Iterator[str]:
    """Every option on three pictures, so that each picture meets most, and every border."""
    for command, options in (("blur", BLURS), ("bloom", BLOOMS)):
        kinds = cycle(PICTURES)
        for option, _ in product(options, range(4)):
            name = next(kinds)
            yield f"{command} IN/{name} -o OUT{_ending(name)} {option}"
        for dtype, name in product(("uint8", "uint16", "half", "float"), ("rgb8.png", "rgba.exr")):
            yield f"{command} IN/{name} -o OUT.tif {options[1]} --dtype {dtype}"
    for border, kind in product(BORDERS, (BLURS[0], BLURS[1], BLURS[7], BLURS[9], BLURS[12])):
        yield f"blur IN/rgb8.png -o OUT.png {kind} --border {border}"
    kinds = cycle(PICTURES)
    for border, method, kernel in product(BORDERS, ("auto", "direct", "fft"), ("kernel.png", "colours.exr")):
        name = next(kinds) if kernel == "kernel.png" else "half.exr"
        yield f"convolve IN/{name} -o OUT{_ending(name)} --kernel IN/{kernel} --border {border} --method {method}"
    yield "convolve IN/half.exr -o OUT.exr --kernel IN/kernel.png --no-normalise"


def _tone() -> Iterator[str]:
    light = ("half.exr", "rgba.exr", "gray.exr", "wild.exr", "panorama.hdr", "float.tif")
    for operator, name in product(OPERATORS, light[:4]):
        yield f"tonemap IN/{name} -o OUT.png --operator {operator}"
    kinds = cycle(light)
    for option, _ in product(TONEMAPS, range(2)):
        ending = ".exr" if "float" in option else ".png"
        yield f"tonemap IN/{next(kinds)} -o OUT{ending} {option}"
    yield "tonemap IN/rgb8.png -o OUT.jpg --space linear"
    for line, name in product(ENCODED, ("rgba8.png", "grayalpha16.png", "rgba.exr")):
        command, _, rest = line.partition(" ")
        yield f"{command} IN/{name} -o OUT{_ending(name)} --space encoded {rest}".strip()


def _transforms() -> Iterator[str]:
    kinds = cycle(PICTURES)
    for option, _ in product(FFTS, range(2)):
        yield f"fft IN/{next(kinds)} -o OUT.npz {option}"
    for view, _ in product(VIEWS, range(2)):
        yield f"fft IN/{next(kinds)} -o OUT.png --view {view}"
    for option, _ in product(FILTERS, range(3)):
        name = next(kinds)
        yield f"fft IN/{name} -o OUT{_ending(name)} {option}"
    for mode, wavelet in zip(chain(MODES, cycle(MODES)), chain(WAVELETS, WAVELETS[::-1]), strict=False):
        yield f"dwt IN/{next(kinds)} -o OUT.npz --wavelet {wavelet} --mode {mode}"
    for option, _ in product(DWTS, range(2)):
        name = next(kinds)
        yield f"dwt IN/{name} -o OUT{_ending(name) if '--reconstruct' in option else '.npz'} {option}"
    for option in ("", "--shrink visu --level 0.05", "--threshold 0.05 --cycle-spins 2"):
        name = next(kinds)
        yield f"denoise IN/{name} -o OUT{_ending(name)} {option}"
    for way, wavelet in product(WAYS, ("bior2.2", "dd13/7")):
        yield f"dwt IN/rgb16.png -o OUT.npz --wavelet {wavelet} --method {way}"
        yield f"dwt IN/rgba.exr -o OUT.png --wavelet {wavelet} --method {way}"
    yield "dwt IN/half.exr -o OUT.npz --device-memory 500K --levels 2"
    # The way back, from what lines before wrote.
    for name in ("rgb8.png", "rgba8.png", "half.exr", "wild.exr", "grayalpha16.png", "column.png"):
        for there, back in (("fft", "ifft"), ("dwt", "idwt")):
            yield f"{there} IN/{name} -o IN/{there}-{name}.npz"
            yield f"{back} IN/{there}-{name}.npz -o OUT{_ending(name)}"


def _rows() -> Iterator[str]:
    """Every operation as a whole, by rows, and with too little room."""
    kinds = cycle(("large.exr", "large.png", "large4.exr"))
    for step in STEPS:
        command, _, rest = step.partition(" ")
        name = next(kinds) if "IN/" not in rest else "large.exr"
        line = f"{command} IN/{name} {rest} -o OUT{_ending(name)}".replace(
            "ASIDE", f"OUT-aside{_ending(name)}"
        )
        yield from (line, f"{line} --device-memory 2500K", f"{line} --device-memory 300K")
    for line in BY_ROWS:
        limit = "100K" if line.startswith("compare") else "256K" if "fft" in line else "500K"
        yield from (line, f"{line} --device-memory {limit}{' --overwrite' if '-o IN/' in line else ''}")


def _others() -> Iterator[str]:
    for name in PICTURES:
        yield f"info IN/{name}"
        yield f"info IN/{name} --json --stats --histogram"
    for option in (
        "",
        "--json",
        "--metric ssim --metric psnr",
        "--max-error 0.5",
        "--min-psnr 60",
        "--min-ssim 0.99",
    ):
        yield f"compare IN/rgb8.png IN/other.png {option}"
        yield f"compare IN/half.exr IN/half.exr {option}"
    yield "compare IN/rgb8.png IN/other.png -o OUT.png"
    yield "--version"


def _ending(name: str) -> str:
    """JPEG and Radiance lose too much to show a difference."""
    ending = Path(name).suffix
    return {".jpg": ".png", ".hdr": ".exr"}.get(ending, ending)
