"""The book theme with less to load, and a few faults of accessibility mended.

The templates in `book/_templates` leave out the theme's 530 KiB icon script and load the search index on the search
page alone. The theme's own icon font takes the script's place, cut to the icons that the pages show.
"""

import re
from pathlib import Path
from typing import Any

import pydata_sphinx_theme
from cut_fonts import cut_font, pages
from sphinx.application import Sphinx
from sphinx.util import logging

log = logging.getLogger(__name__)

THEME_STATIC = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static"
ICON_FONT = Path("vendor/fontawesome/webfonts/fa-solid-900.woff2")


def use_own_templates(app: Sphinx, config: Any) -> None:
    """Find `book/_templates` before the theme's templates."""
    config.templates_path.insert(0, str(Path(__file__).parent.parent / "_templates"))


def mend_roles(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Take out of the list of references two roles that docutils writes and that ARIA has forbidden since."""
    for role in ('<div role="list" class="citation-list"', 'role="doc-biblioentry"'):
        mended = re.sub(r' ?role="[\w-]+"', "", role)
        context["body"] = context.get("body", "").replace(role, mended)


def remove_cut_icon_font(app: Sphinx) -> None:
    """Make room for the theme's whole font, which Sphinx copies at every build."""
    (Path(app.outdir) / "_static" / ICON_FONT).unlink(missing_ok=True)


def cut_icon_font(app: Sphinx, exception: Exception | None) -> None:
    """Leave in the icon font what the pages and the style sheets use."""
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    css = "".join(sheet.read_text(encoding="utf-8") for sheet in sorted(static.rglob("*.css")))
    icons = named_icons(css)
    names = {name for page in pages(Path(app.outdir)) for name in re.findall(r"\bfa-[\w-]+", page)}
    used = {icons[name] for name in names & icons.keys()} | drawn_by_css(css)
    size = cut_font(THEME_STATIC / ICON_FONT, used, static / ICON_FONT, name="BookIcons")
    log.info("icons: %d glyphs, %d bytes", len(used), size)


def named_icons(css: str) -> dict[str, int]:
    r"""The code point of every icon class: `.fa-bars:before{content:"\f0c9"}`."""
    rules = re.findall(r'((?:\.fa-[\w-]+:{1,2}before,?)+)\{content:"\\([0-9a-f]+)"\}', css)
    return {name: int(code, 16) for selectors, code in rules for name in re.findall(r"fa-[\w-]+", selectors)}


def drawn_by_css(css: str) -> set[int]:
    """The code points that a style sheet puts before or after an element, such as the icons of notes and warnings."""
    without_named = re.sub(r"(?:\.fa-[\w-]+:{1,2}before,?)+\{[^}]*\}", "", css)
    escaped = {int(code, 16) for code in re.findall(r"\\(f[0-9a-f]{3})\b", without_named)}
    return escaped | {ord(character) for character in re.findall(r"[\uf000-\uf8ff]", without_named)}


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the steps."""
    app.connect("config-inited", use_own_templates)
    app.connect("html-page-context", mend_roles)
    app.connect("builder-inited", remove_cut_icon_font)
    app.connect("build-finished", cut_icon_font)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
