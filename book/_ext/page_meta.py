"""What a page says of itself to a search engine, and to a friend to whom its address is sent.

Every page has a description of its own: a chapter its question, which opens it; the others what `page_descriptions` in
`_config.yml` says. Once `baseurl` is set there too, a page also names its one address (Sphinx does that) and a picture,
made of its first figure, and all addresses stand in `sitemap.xml`. Without it none of these could be right.

`sphinxext-opengraph` describes a page by its first words, cut off where they get too long, and draws a card of its own.
"""

from __future__ import annotations

import html
import posixpath
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import resvg_py
from docutils import nodes
from sphinx.application import Sphinx

NUMBERED = re.compile(r"(\d+) · ")  # the title of a chapter
OF_A_CHAPTER = "{question} Chapter {number} of a course on the output layer of a language model, with cells that run."
CARD = (1200, 630)  # pixels, as those who show such pictures ask for
OTHER_PICTURE = "book/_static/page.png"  # of a page without a figure
FIGURE = re.compile(r'<img\b[^>]*\bsrc="[^"]*_images/([0-9a-f]{64}\.svg)"')


def add_meta(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Put description, title and, where it has an address, picture of a page into its head."""
    title = plain(context.get("title", ""))
    description = description_of(app, pagename, title, doctree)
    if description is None:
        return
    said = {"og:type": "website" if pagename == app.config.root_doc else "article", "og:title": title}
    said |= {"og:description": description, "og:site_name": app.config.html_title}
    if context.get("pageurl"):
        said |= {"og:url": context["pageurl"], "og:image": address(app, picture_of(app, pagename, context))}
        said["twitter:card"] = "summary_large_image"
    lines = [f'<meta name="description" content="{html.escape(description)}" />']
    lines += [f'<meta {kind(name)}="{name}" content="{html.escape(value)}" />' for name, value in said.items()]
    context["metatags"] = context.get("metatags", "") + "\n".join(["", *lines, ""])


def description_of(app: Sphinx, pagename: str, title: str, doctree: Any) -> str | None:
    """The description of a page. A test asks each page of the book for one."""
    chapter = NUMBERED.match(title)
    if pagename in app.config.page_descriptions or doctree is None or chapter is None:
        return app.config.page_descriptions.get(pagename)
    question = next(doctree.findall(nodes.strong)).astext().replace(r"^\top", "ᵀ")
    return OF_A_CHAPTER.format(question=question, number=chapter[1])


def picture_of(app: Sphinx, pagename: str, context: dict[str, Any]) -> str:
    """The path in the site of a page's picture: its first figure, drawn in the middle of a white card."""
    figure = FIGURE.search(context.get("body", ""))
    if figure is None:
        return "_static/" + posixpath.basename(OTHER_PICTURE)
    (source,) = (path for path, name in app.builder.images.items() if name == figure[1])
    size = 'width="{}" height="{}"'.format(*CARD)
    svg = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', size, Path(app.srcdir, source).read_text("utf-8"), count=1)
    name = f"_images/card_{posixpath.basename(pagename)}.png"
    (Path(app.outdir) / "_images").mkdir(exist_ok=True)
    (Path(app.outdir) / name).write_bytes(bytes(resvg_py.svg_to_bytes(svg_string=svg, background="white")))
    return name


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    """List the addresses of all pages, for search engines."""
    if exception or app.builder.format != "html" or not app.config.html_baseurl:
        return
    pages = [address(app, app.builder.get_target_uri(page)) for page in sorted(app.env.found_docs)]
    urls = "".join(f"<url><loc>{html.escape(page)}</loc></url>\n" for page in pages)
    head = '<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    (Path(app.outdir) / "sitemap.xml").write_text(f"{head}{urls}</urlset>\n", encoding="utf-8")


def address(app: Sphinx, path: str) -> str:
    """The address of a file of the site, as Sphinx makes that of a page."""
    return posixpath.join(app.config.html_baseurl, quote(path))


def kind(name: str) -> str:
    """Open Graph's tags have a property where all others have a name."""
    return "property" if name.startswith("og:") else "name"


def plain(title: str) -> str:
    """A title without its markup."""
    return html.unescape(re.sub(r"<[^>]*>", "", title))


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the steps."""
    app.add_config_value("page_descriptions", {}, "html")
    app.connect("html-page-context", add_meta)
    app.connect("build-finished", write_sitemap)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
