"""The package's reference page from its docstrings, which are written in Markdown: autodoc reads reStructuredText."""

import re
from typing import Any

from sphinx.application import Sphinx


def markdown_to_rst(text: str) -> str:
    """`code` and $formula$ as reStructuredText writes them."""
    code = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", text)
    parts = re.split(r"(``[^`]+``)", code)  # a dollar sign inside code is no formula
    return "".join(part if part.startswith("``") else re.sub(r"\$([^$]+)\$", r":math:`\1`", part) for part in parts)


def rewrite(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Rewrite a docstring in place, paragraph by paragraph, but for its examples."""
    paragraphs = "\n".join(lines).split("\n\n")  # a formula may go over the end of a line
    lines[:] = "\n\n".join(p if p.lstrip().startswith(">>>") else markdown_to_rst(p) for p in paragraphs).split("\n")
    if what == "module":  # in a function's docstring what is indented belongs to a section
        starts = [at for at, line in enumerate(lines) if line.startswith("    ") and not lines[at - 1].strip()]
        for at in reversed(starts):
            lines[at:at] = ["::", ""]


def setup(app: Sphinx) -> dict[str, Any]:
    """Rewrite before napoleon, which takes the sections apart, at its default priority of 500."""
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.connect("autodoc-process-docstring", rewrite, priority=400)
    app.config.autodoc_typehints = "none"  # the docstrings say shapes and types
    app.config.nitpick_ignore_regex = [("py:exc", r".*"), ("py:class", r".*")]
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
