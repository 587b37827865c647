"""The site of the documentation: python -m sphinx -W -c docs/site docs build/site

The pages are the Markdown files in docs/, which can be read in the repository as well.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from pygments.lexers.python import PythonLexer
from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "clpix"
author = "the clpix contributors"
copyright = author

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "mathml", "command_lines"]
root_doc = "index"
exclude_patterns = ["site/build"]

myst_enable_extensions = ["dollarmath"]
# Headings down to this level can be linked to.
myst_heading_anchors = 4
# Warnings of links and anchors that lead nowhere are among these; the test makes them errors.
nitpicky = False
smartquotes = False

html_theme = "furo"
html_title = "clpix"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
# Nothing is asked of another host: Furo has fonts of the system, and formulas are MathML.
html_math_renderer = "mathml"
pygments_style = "friendly"
pygments_dark_style = "github-dark"
highlight_language = "none"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"


def bars(app: Sphinx, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    """Escapes the bars of magnitudes, as in |a − b|, which reStructuredText takes for references."""
    text = "\n".join(lines)
    parts = re.split(r"(``.*?``)", text, flags=re.DOTALL)
    parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
    lines[:] = "".join(parts).split("\n")


def setup(app: Sphinx) -> None:
    """Adds to Sphinx what these pages need."""
    app.connect("autodoc-process-docstring", bars)
    app.add_lexer("snakemake", PythonLexer)
