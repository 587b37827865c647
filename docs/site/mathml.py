"""A Sphinx extension that renders formulas as MathML, which browsers draw without scripts and fonts from elsewhere."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

_LOG = logging.getLogger(__name__)


def _formula(node: nodes.Node, as_block: bool) -> str:
    text = node.astext().strip()
    try:
        return str(tex2mathml(text, as_block=as_block))
    except MathError as error:
        _LOG.warning("formula %r: %s", text, error, location=node)
        return f"<code>{text}</code>"


def _inline(visitor: Any, node: nodes.math) -> None:
    visitor.body.append(_formula(node, as_block=False))
    raise nodes.SkipNode


def _display(visitor: Any, node: nodes.math_block) -> None:
    visitor.body.append(f'<div class="formula">{_formula(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers the renderer, which conf.py chooses by ``html_math_renderer``."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
