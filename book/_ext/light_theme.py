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


def launch_from_a_repository_alone(app: Sphinx, config: Any) -> None:
    """Leave the launch buttons out while `repository.url` is empty: the theme would stop the build over them."""
    if not config.html_theme_options.get("repository_url"):
        config.html_theme_options["launch_buttons"] = {}


def leave_out_long_contents(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """The attempts are reached by links; contents of 65 lines beside them would weigh 5 KiB of the first view."""
    if pagename == "book/conclusions":
        context["meta"] = {**(context.get("meta") or {}), "html_theme.sidebar_secondary.remove": "true"}


def mend_roles(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Take out of the list of references two roles that docutils writes and that ARIA has forbidden since."""
    for role in ('<div role="list" class="citation-list"', 'role="doc-biblioentry"'):
        mended = re.sub(r' ?role="[\w-]+"', "", role)
        context["body"] = context.get("body", "").replace(role, mended)


def scope_headers(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Say of each header of a table whether it heads a column, as those in `thead` do, or a row."""
    parts = re.split(r"(<thead.*?</thead>)", context.get("body", ""), flags=re.S)
    for at, part in enumerate(parts):
        scope = "col" if part.startswith("<thead") else "row"
        parts[at] = re.sub(r"<th(?![^>]*scope=)(?=[\s>])", f'<th scope="{scope}"', part)
    context["body"] = "".join(parts)


def light_without_scripts(app: Sphinx, exception: Exception | None) -> None:
    """Give a page the light colours if no script runs: until one decides, it would say "auto", which has no colours."""
    if exception or app.builder.format != "html":
        return
    for file in Path(app.outdir).rglob("*.html"):
        page = file.read_text(encoding="utf-8")
        if (light := page.replace(' data-theme="auto"', ' data-theme="light"', 1)) != page:
            file.write_text(light, encoding="utf-8")


def remove_cut_font(app: Sphinx) -> None:
    """Make room for the theme's whole font, which Sphinx copies at every build."""
    (Path(app.outdir) / "_static" / ICON_FONT).unlink(missing_ok=True)


def cut_icons(app: Sphinx, exception: Exception | None) -> None:
    """Leave in the theme's icon font what the styles draw, which `cut_styles` has written into the pages."""
    if exception or app.builder.format != "html":
        return
    written = "".join(pages(Path(app.outdir)))
    drawn = {int(code, 16) for code in re.findall(r"\\(f[0-9a-f]{3})\b", written)}
    drawn |= {ord(character) for character in re.findall(r"[\uf000-\uf8ff]", written)}
    size = cut_font(THEME_STATIC / ICON_FONT, drawn, Path(app.outdir) / "_static" / ICON_FONT, name="BookIcons")
    log.info("icons: %d glyphs, %d bytes", len(drawn), size)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the steps."""
    app.connect("config-inited", use_own_templates)
    app.connect("config-inited", launch_from_a_repository_alone)
    app.connect("html-page-context", mend_roles)
    app.connect("html-page-context", scope_headers)
    app.connect("html-page-context", leave_out_long_contents)
    app.connect("builder-inited", remove_cut_font)
    app.connect("build-finished", light_without_scripts)
    app.connect("build-finished", cut_icons, priority=800)  # after cut_styles
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
