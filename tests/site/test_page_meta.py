"""What pages say of themselves to search engines and to those who share them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from bs4 import BeautifulSoup
from PIL import Image

from tests.support.building import ADDRESS
from tests.support.styles import CUT


def head(page: str) -> BeautifulSoup:
    return BeautifulSoup(page.partition("</head>")[0], "html.parser")


def metas(page: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for meta in head(page).find_all("meta", content=True):
        found.setdefault(meta.get("name") or meta.get("property"), []).append(meta["content"])
    return found


OPENING = re.compile(r"<article.*?(<h1>.*?</h1>)\s*(<p>.*?</p>)?", re.S)  # of a page: its title; a chapter's question


def words_of(text: str) -> str:
    """The words of a piece of HTML, a formula's as they are said, without spaces and the link that leads to it."""
    piece = BeautifulSoup(text, "html.parser")
    for drawn in piece.select(".headerlink, .katex-html, annotation"):
        drawn.decompose()
    return "".join(piece.get_text().split())


def pages_of(site: Path) -> Iterator[tuple[str, str]]:
    for file in sorted(site.rglob("*.html")):
        text = file.read_text("utf-8")
        if CUT.search(text):  # a whole page, no redirection
            yield file.relative_to(site).as_posix(), text


def test_each_page_has_a_description_of_its_own(site: Path) -> None:
    said = {name: metas(text) for name, text in pages_of(site)}
    assert len(said) > 20
    descriptions = {name: found.get("description", []) for name, found in said.items()}
    assert {name: one for name, one in descriptions.items() if len(one) != 1} == {}
    texts = [one for (one,) in descriptions.values()]
    assert [one for one in texts if not 50 <= len(one) <= 160 or set("\\$*`") & set(one)] == []
    assert len(set(texts)) == len(texts)
    assert all(found["og:description"] == found["description"] for found in said.values())
    titles = [found["og:title"] for found in said.values()]
    assert all(len(title) == 1 and "<" not in title[0] for title in titles)
    for name, text in pages_of(site):
        title, question = OPENING.search(text).groups() if name.startswith("book/") else ("", "")
        assert words_of(title) in ("".join(said[name]["og:title"][0].split()), ""), name
        if re.match(r"book/\d\d_", name) and "math" not in question:
            assert words_of(question) in "".join(descriptions[name][0].split()), name
        for meta in head(text).find_all("meta", content=True):
            assert meta.get("property", "og:").startswith("og:") and not meta.get("name", "").startswith("og:"), meta


def test_without_an_address_nothing_is_said_of_it(site: Path) -> None:
    for name, text in pages_of(site):
        assert not {"og:url", "og:image", "twitter:card"} & set(metas(text)), name
        assert 'rel="canonical"' not in text, name
    assert not (site / "sitemap.xml").exists()


def test_with_an_address_pages_say_it_and_have_a_picture(published: Path) -> None:
    page = (published / "book/other.html").read_text("utf-8")
    (canonical,) = head(page).find_all("link", rel="canonical")
    found = metas(page)
    assert canonical["href"] == found["og:url"][0] == f"{ADDRESS}book/other.html"
    assert found["twitter:card"] == ["summary_large_image"]
    (picture,) = found["og:image"]
    drawn = Image.open(published / picture.removeprefix(ADDRESS)).convert("L")
    assert drawn.size == (1200, 630)
    ink = np.array(drawn) < 200
    assert 0.005 < ink.mean() < 0.9, "a figure, neither blank nor black"
    landing = metas((published / "book/index.html").read_text("utf-8"))
    assert (published / landing["og:image"][0].removeprefix(ADDRESS)).is_file()

    listed = [one.text for one in ElementTree.parse(published / "sitemap.xml").findall(".//{*}loc")]
    assert listed == [f"{ADDRESS}book/{name}.html" for name in ("index", "other", "page")]
