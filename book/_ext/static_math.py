"""Mathematics that is drawn when the book is built: no script for it on any page.

KaTeX runs in V8 (mini-racer) and turns every formula into HTML for the eye and MathML for a screen reader.
A formula that KaTeX cannot read is a warning that names the page and the formula; with `-W` the build fails.
KaTeX itself is fetched once (`lmhead.fetch`), and its fonts are cut to the characters of the book.
"""

import base64
import html
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from cut_fonts import cut_font, pages, text_of
from docutils import nodes
from py_mini_racer import JSEvalException, MiniRacer
from sphinx.application import Sphinx
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from lmhead.fetch import FetchError, fetch_from_wheel

log = logging.getLogger(__name__)

# KaTeX 0.16.40 lies whole in the wheel of a Django plug-in, of which nothing else is used.
KATEX = {
    "requirement": "djangocms-katex==1.0.2",
    "member": "djangocms_katex/static/djangocms_katex/vendor/katex",
    "sha256": "05fc620901c1424aa68a00de7e3b3e282fea14798726d333454d47ba76a455f3",
    "wheel_sha256": "79774fa17f7d328252f6dd05688799fa7ee49abebb7cbe09f0cbf6f103352ac2",
    "wheel_bytes": 1_361_588,
}
NUMBERED = r"\\(begin|end)\{(align|alignat|equation|gather|multline)\}"  # Sphinx counts the equations, not KaTeX

# A word in upright letters, such as onehot: a screen reader would spell what KaTeX's MathML has letter by letter.
LETTERS = re.compile(r'<mi mathvariant="normal">\w</mi>(?:<mi mathvariant="normal">\w</mi>|<mn>\d</mn>)+')

# Those of the text and of the headings go inside the style sheet: a font that comes late moves what stands around it.
NEEDED_AT_ONCE = ("KaTeX_Main-Regular", "KaTeX_Math-Italic", "KaTeX_Main-Bold", "KaTeX_Math-BoldItalic")


@cache
def katex_folder() -> Path:
    """The verified folder of KaTeX in the user's cache."""
    try:
        return fetch_from_wheel(**KATEX)  # type: ignore[arg-type]
    except FetchError as error:
        sys.exit(f"KaTeX, which draws the formulas: {error}")  # anything else ends in a page of traceback


@cache
def katex() -> MiniRacer:
    """A JavaScript engine with KaTeX loaded."""
    engine = MiniRacer()
    engine.eval("var self = this;" + (katex_folder() / "katex.min.js").read_text(encoding="utf-8"))
    return engine


def render(tex: str, *, display: bool, location: nodes.Element) -> str:
    """The HTML of a formula; one that KaTeX cannot read is reported and shown as it was written."""
    options = {"displayMode": display, "throwOnError": True, "strict": "ignore", "output": "htmlAndMathml"}
    try:
        drawn = str(katex().call("katex.renderToString", tex, options))
        return LETTERS.sub(lambda letters: f"<mi>{re.sub('<[^>]*>', '', letters[0])}</mi>", drawn)
    except JSEvalException as error:
        message = re.search(r"KaTeX parse error: .*", str(error))
        reason = message[0] if message else str(error)
        log.warning("this formula is wrong: %s\n%s", " ".join(tex.split()), reason, location=location)
        return f"<code>{html.escape(tex)}</code>"


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    formula = render(node.astext(), display=False, location=node)
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate nohighlight") + formula + "</span>")
    raise nodes.SkipNode


def visit_display(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula of its own, with its number and permalink where it has a label."""
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, _("Link to this equation"))
        self.body.append("</span>")
    tex = node.astext() if node["nowrap"] else lines_aligned(node.astext())
    self.body.append(render(re.sub(NUMBERED, r"\\\1{\2*}", tex), display=True, location=node) + "</div>\n")
    raise nodes.SkipNode


def lines_aligned(tex: str) -> str:
    r"""Formulas of several lines, as Sphinx defines them: `\\` splits a formula, an empty line parts two formulas."""
    formulas = [part for part in tex.split("\n\n") if part.strip()]
    formulas = [rf"\begin{{split}}{part}\end{{split}}" if r"\\" in part else part for part in formulas]
    return formulas[0] if len(formulas) == 1 else r"\begin{aligned}" + r"\\".join(formulas) + r"\end{aligned}"


def write_style(app: Sphinx) -> None:
    """Put KaTeX's style sheet where the pages will look for it; every browser reads woff2, so no other format."""
    if app.builder.format == "html":
        css = (katex_folder() / "katex.min.css").read_text(encoding="utf-8")
        css = re.sub(r',url\([^)]*\) format\("(?:woff|truetype)"\)', "", css)
        target = Path(app.outdir) / "_static/katex/katex.css"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(css, encoding="utf-8")


def link_style(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Load the style sheet on the pages that have a formula, before `book.css`, and on no other."""
    if app.env.get_domain("math").has_equations(pagename):  # type: ignore[attr-defined]
        app.add_css_file("katex/katex.css", priority=300)


def cut_katex_fonts(app: Sphinx, exception: Exception | None) -> None:
    """Leave in every KaTeX font the characters of the pages with formulas: a regex over the TeX would miss glyphs."""
    if exception or app.builder.format != "html":
        return
    characters = {ord(c) for page in pages(Path(app.outdir)) if "katex-html" in page for c in text_of(page)}
    characters |= {0x20, 0xA0, 0x200B}
    fonts = Path(app.outdir) / "_static/katex/fonts"
    whole = (katex_folder() / "fonts").glob("*.ttf")  # read in half the time of woff2
    sizes = [cut_font(font, characters, fonts / f"{font.stem}.woff2") for font in whole]
    log.info("mathematics: %d fonts, %d bytes in all", len(sizes), sum(sizes))
    style = Path(app.outdir) / "_static/katex/katex.css"
    css = style.read_text(encoding="utf-8")
    for name in NEEDED_AT_ONCE:
        data = base64.b64encode((fonts / f"{name}.woff2").read_bytes()).decode()
        css = css.replace(f"url(fonts/{name}.woff2)", f"url(data:font/woff2;base64,{data})")
    style.write_text(css, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name `static`."""
    app.add_html_math_renderer("static", (visit_inline, None), (visit_display, None))
    app.connect("builder-inited", write_style)
    app.connect("html-page-context", link_style)
    app.connect("build-finished", cut_katex_fonts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
