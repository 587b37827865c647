"""How the site colours command lines: programs, options, quoted words and comments."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Keyword, Name, Punctuation, String, Text, Whitespace
from sphinx.application import Sphinx


class CommandLexer(RegexLexer):
    """Command lines of clpix and of other programs."""

    name = "command lines"
    tokens = {  # noqa: RUF012
        "root": [
            (r"(^|\| *)((?:\$ )?)([\w./]+)", bygroups(Punctuation, Comment, Name.Function)),
            (r"\s+", Whitespace),
            (r"#.*", Comment),
            (r"'[^']*'|\"[^\"]*\"", String),
            (r"then\b", Keyword),
            (r"-[\w-]+", Name.Attribute),
            (r"[\[\]]", Punctuation),
            (r"[^\s'\"\[\]]+|['\"]", Text),
        ]
    }


def _mark(app: Sphinx, page: nodes.document) -> None:
    """Makes command lines of the indented blocks that are such; those with what a program prints stay as they are."""
    for block in page.findall(nodes.literal_block):
        lines = block.astext().splitlines()
        if block.get("language") in (None, "none", "default") and all(
            one.startswith("clpix ") for one in lines
        ):
            block["language"] = "sh"


def setup(app: Sphinx) -> dict[str, Any]:
    """Adds the lexer to Sphinx, in place of the shell's."""
    app.add_lexer("sh", CommandLexer)
    app.connect("doctree-read", _mark)
    return {"parallel_read_safe": True}
