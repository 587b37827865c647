"""OpenCL C of one stage of a transform through global memory."""

from __future__ import annotations

from .pieces import SHAPE, SIGNATURE
from .schedule import LARGEST_UNROLLED


def global_kernel(radix: int, computed: bool) -> str:
    """The kernel ``fft_global``: one stage of a multi-pass transform, one butterfly in each work-item.

    Stockham's self-sorting form: no digit reversal, but the result cannot overwrite the input. Work-items are
    numbered sequences first where those are neighbours in memory, else butterflies first.
    """
    loop = f"__attribute__((opencl_unroll_hint({radix if radix <= LARGEST_UNROLLED else 1}))) for (int k ="
    root = f"root(k * q, stride * {radix})" if computed else "tables[k * stride - 1 + q]"
    # groups: the number of groups of LANES sequences
    sizes = ", int butterflies, int stride, int groups"
    signature = SIGNATURE.format(attributes="", name="fft_global", more=sizes)
    return f"""{signature}
    const int id = get_global_id(0);
#ifdef ALONG
    const int t = id % butterflies, group = id / butterflies;
#else
    const int t = id / groups, group = id % groups;
#endif
    if (t >= butterflies || group >= groups) return;
{SHAPE}
    COUNTERS
    const Place w = place(group, 0, 1, s);
    cplx x[{radix}];
    const int q = t % stride, p = t / stride * (stride * {radix}) + q;
    {loop} 0; k < {radix}; k++) x[k] = take(in, factors, w, t + k * butterflies, s);
    {loop} 1; k < {radix}; k++) x[k] = times(x[k], {root});
    {f"dft{radix}(x);" if radix > 1 else ""}
    {loop} 0; k < {radix}; k++) give(out, factors, roots, w, p + k * stride, x[k], s COUNTED);
    COUNT
}}
"""
