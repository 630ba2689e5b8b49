"""The built site: it builds without a warning, loads nothing from elsewhere, links to nothing that is missing."""

import gzip
import itertools
import json
import pickle
import re
import shutil
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import light_theme
import pytest
import whole_builds
import yaml
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont

from tests.support.building import REPOSITORY, build_book
from tools.chapters import CHAPTERS, ROOT

FIRST_VIEW_KIB = 250
LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src", "embed": "src", "object": "data"}
LOADED |= {"audio": "src", "video": "src", "track": "src", "image": "href", "use": "href", "input": "src"}
LOADING_RELS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch", "manifest"}
URL = re.compile(r"""url\(\s*["']?([^"')]+)["']?\s*\)|@import\s+["']([^"']+)["']""")


@cache
def parsed(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


def pages(site: Path) -> list[Path]:
    found = sorted(site.rglob("*.html"))
    found = [page for page in found if "_static" not in page.parts]  # the theme leaves templates there
    assert len(found) > 5, f"only {len(found)} pages in {site}"
    return found


def chapters() -> list[str]:
    """The pages of the table of contents, in order, such as `book/06_cross_entropy_by_hand`."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]


# ---- what a page loads


def addresses_in_css(css: str) -> list[str]:
    return [first or second for first, second in URL.findall(re.sub(r"/\*.*?\*/", "", css, flags=re.S))]


def addresses_in_page(page: BeautifulSoup) -> Iterator[str]:
    """Everything that a browser fetches by itself; a link that a person clicks is not among it."""
    for tag, attribute in LOADED.items():
        yield from (element[attribute] for element in page.find_all(tag) if element.get(attribute))
    for element in page.find_all(srcset=True):
        yield from (part.split()[0] for part in element["srcset"].split(","))
    for link in page.find_all("link", href=True):
        if LOADING_RELS & set(link.get("rel", [])):
            yield link["href"]
    for style in page.find_all("style"):
        yield from addresses_in_css(style.get_text())
    for element in page.find_all(style=True):
        yield from addresses_in_css(element["style"])


def is_outside(address: str) -> bool:
    parts = urlsplit(address.strip())
    return bool(parts.netloc) or parts.scheme in ("http", "https", "ftp")


def local(address: str, source: Path) -> Path | None:
    """The file that an address in `source` means; None for data that stand in the address itself."""
    parts = urlsplit(address.strip())
    return None if parts.scheme in ("data", "blob") else (source.parent / unquote(parts.path)).resolve()


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    outside = [f"{page.name}: {a}" for page in pages(site) for a in addresses_in_page(parsed(page)) if is_outside(a)]
    for sheet in sorted(site.rglob("*.css")):
        outside += [f"{sheet.name}: {a}" for a in addresses_in_css(sheet.read_text(encoding="utf-8")) if is_outside(a)]
    assert outside == []


def test_everything_that_a_page_loads_is_there(site: Path) -> None:
    missing = []
    for page in pages(site):
        for address in addresses_in_page(parsed(page)):
            file = local(address, page)
            if file and not file.is_file():
                missing.append(f"{page.name}: {address}")
    assert missing == []


@pytest.mark.parametrize("script", ["require", "thebe", "mathjax", "fontawesome", "html-manager"])
def test_heavy_scripts_stay_away(site: Path, script: str) -> None:
    users = [
        page.name
        for page in pages(site)
        if any(script in tag["src"].lower() for tag in parsed(page).find_all("script", src=True))
    ]
    assert users == []


def test_each_page_says_its_language(site: Path) -> None:
    whole = [
        page for page in pages(site) if page != site / "index.html"
    ]  # one line that leads to the book's first page
    said = {page.relative_to(site).as_posix(): parsed(page).html["lang"] for page in whole}
    assert {name: language for name, language in said.items() if language != "en"} == {}


# ---- how much a first view weighs


@cache
def katex_faces(site: Path) -> list[tuple[str, Path]]:
    """Pairs of a selector and the font that it makes a browser load, out of KaTeX's style sheet."""
    sheet = site / "_static/katex/katex.css"
    css = sheet.read_text(encoding="utf-8")
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", css)
    files = {}
    for selector, body in rules:
        if selector.strip() == "@font-face":
            family = re.search(r'font-family:"?(\w+)', body)[1]
            face = (family, "bold" in body or "weight:700" in body, "italic" in body)
            files[face] = local(addresses_in_css(body)[0], sheet)
    pairs = []
    for selector, body in rules:
        family = re.search(r"font(?:-family)?:[^;]*(KaTeX_\w+)", body)
        if family and selector.strip() != "@font-face":
            face = (family[1], bool(re.search(r"bold|weight:700", body)), "italic" in body)
            pairs += [(one.strip(), files[face]) for one in selector.split(",")]
    assert len(pairs) > 20
    return pairs


def files_of_first_view(page: Path, site: Path) -> set[Path]:
    """The page, its scripts, style sheets, pictures, the icon font, and the fonts of the formulas that it shows."""
    soup = parsed(page)
    named = {file for a in addresses_in_page(soup) if (file := local(a, page))}
    files = {page} | {file for file in named if file.suffix not in (".woff2", ".ttf")}  # a font that is used is fetched
    assert not any(file.suffix == ".css" for file in files), f"{page.name} fetches a style sheet"
    files.add(site / "_static/vendor/fontawesome/webfonts/fa-solid-900.woff2")
    if formulas := soup.select(".katex"):
        different = {str(formula) for formula in formulas}  # to search the whole page takes seconds
        of_these = BeautifulSoup("".join(different), "html.parser")
        files |= {
            font for selector, font in katex_faces(site) if font and of_these.select_one(selector)
        }  # else in the sheet
    return files


def transferred(files: Iterable[Path]) -> int:
    return sum(min(len(data := file.read_bytes()), len(gzip.compress(data, 6))) for file in files)


def test_a_first_view_is_light(site: Path) -> None:
    weights = {str(page.relative_to(site)): transferred(files_of_first_view(page, site)) / 1024 for page in pages(site)}
    print("".join(f"\n{weight:6.1f} KiB  {name}" for name, weight in weights.items()))
    assert {name: weight for name, weight in weights.items() if weight > FIRST_VIEW_KIB} == {}


def without_div(text: str, start: int) -> str:
    """A page without the `div` that starts there."""
    depth = 0
    for tag in re.finditer(r"<(/?)div\b[^>]*>", text[start:]):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return text[:start] + text[start + tag.end() :]
    raise ValueError("it never ends")


def test_a_set_of_tabs_is_light(site: Path) -> None:
    """What each set of tabs of other frameworks adds to its page."""
    added = {}
    for page in pages(site):
        text = page.read_text("utf-8")
        for start in re.finditer('<div class="sd-tab-set twins', text):
            rest = without_div(text, start.start())
            added[page.stem, start.start()] = len(gzip.compress(text.encode())) - len(gzip.compress(rest.encode()))
    assert len(added) >= 30 and min(added.values()) > 50
    assert {where: size for where, size in added.items() if size > 1.2 * 1024} == {}


def test_the_search_index_is_loaded_on_the_search_page_alone(site: Path) -> None:
    users = [page.name for page in pages(site) if any("searchindex.js" in a for a in addresses_in_page(parsed(page)))]
    assert users == ["search.html"]


# ---- where links lead


@cache
def anchors(page: Path) -> set[str]:
    soup = parsed(page)
    named = {element["name"] for element in soup.find_all("a", attrs={"name": True})}
    return {element["id"] for element in soup.find_all(id=True)} | named


def test_every_link_inside_the_site_leads_somewhere(site: Path) -> None:
    files = {
        file.relative_to(site).as_posix() for file in site.rglob("*") if file.is_file()
    }  # exact in upper and lower case
    broken, followed = [], 0
    for page in pages(site):
        for link in parsed(page).find_all("a", href=True):
            address = urlsplit(link["href"])
            if address.scheme or address.netloc:
                continue
            target = (page.parent / unquote(address.path)).resolve() if address.path else page
            name = target.relative_to(site.resolve()).as_posix() if target.is_relative_to(site.resolve()) else None
            anchor = unquote(address.fragment)
            anchored = not anchor or (target.suffix == ".html" and target.is_file() and anchor in anchors(target))
            followed += 1
            if name not in files or not anchored:
                broken.append(f"{page.name}: {link['href']}")
    assert followed > 100
    assert broken == []


def test_an_old_address_leads_to_the_same_chapter_with_scripts_and_without(site: Path) -> None:
    moved = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]["redirects"]
    assert len(moved) == 2
    for old, new in moved.items():
        assert old.partition("_")[2] == new.removesuffix(".html").partition("_")[2] and (site / "book" / new).is_file()
        page = BeautifulSoup((site / f"{old}.html").read_text("utf-8"), "html.parser")
        assert page.noscript.meta["content"] == f"0; url={new}" and page.noscript.meta["http-equiv"] == "refresh"
        assert f'location.replace("{new}" + location.hash)' in page.script.get_text()
        assert page.body.a["href"] == new


def test_each_notebook_can_be_downloaded(site: Path) -> None:
    notebooks = [chapter for chapter in chapters() if (ROOT / f"{chapter}.ipynb").exists()]
    assert notebooks
    for chapter in notebooks:
        page = site / f"{chapter}.html"
        links = [local(a["href"], page) for a in parsed(page).find_all("a", href=re.compile(r"\.ipynb$"))]
        source = (ROOT / f"{chapter}.ipynb").read_bytes()
        assert any(link and link.is_file() and link.read_bytes() == source for link in links), chapter


def test_the_search_finds_every_chapter(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))
    assert set(chapters()) <= set(index["docnames"])
    for chapter in chapters():
        heading = parsed(site / f"{chapter}.html").select_one("h1").get_text().rstrip("#")
        assert index["titles"][index["docnames"].index(chapter)] == heading


def test_every_page_stands_on_the_landing_page(site: Path) -> None:
    landing = site / "book/index.html"
    article = parsed(landing).select_one("article")
    linked = {local(link["href"], landing) for link in article.find_all("a", href=True)}
    assert [chapter for chapter in chapters() if (site / f"{chapter}.html").resolve() not in linked] == []


def test_the_cards_say_what_the_chapters_say(site: Path) -> None:
    """Each numbered chapter opens with its question and the time that it takes; its card repeats both."""
    cards = [card.get_text() for card in parsed(site / "book/index.html").select(".questions .sd-card")]
    numbered = [chapter for chapter in chapters() if re.match(r"book/\d\d_", chapter)]
    assert len(cards) == len(numbered) > 5
    for card, chapter in zip(cards, numbered, strict=True):
        page = parsed(site / f"{chapter}.html")
        question = page.select_one("h1 + p strong").get_text()
        minutes = re.search(r"about\s+(\d+)\s+minutes", page.select_one("article").get_text())[1]
        assert question in card
        assert f"{minutes} minutes" in card
        before = re.search(r"You need(.*?)Time:?", page.select_one(".admonition").get_text(), re.S)[1]
        assert before, f"{chapter} does not say what it needs"
        links = page.select_one(".admonition p:nth-of-type(2)").find_all("a", href=re.compile(r"^\d\d_"))
        needed = [int(link["href"][:2]) for link in links if int(link["href"][:2]) != int(chapter[5:7])]
        assert chapters_named(card) == sorted(needed), (
            f"the card of {chapter} names other chapters than its first lines"
        )


def test_the_ways_add_up_the_minutes_of_their_chapters(site: Path) -> None:
    landing = parsed(site / "book/index.html")
    minutes = [int(re.search(r"(\d+) minutes", card.get_text())[1]) for card in landing.select(".questions .sd-card")]
    ways = [[cell.get_text() for cell in row.select("td")] for row in landing.select("article tr")]
    ways = [cells for cells in ways if cells and cells[-1].endswith(" minutes")]
    assert len(ways) > 5
    for _, chapters, said in ways:
        spans = re.findall(r"(\d+)(?: to (\d+))?", chapters)
        assert said == f"{sum(sum(minutes[int(first) - 1 : int(last or first)]) for first, last in spans)} minutes"


def chapters_named(text: str) -> list[int]:
    """The numbers after "chapter" or "chapters"; "6 to 8" are three."""
    named = re.search(r"chapters? (\d+(?:(?: to |, | and )\d+)*)", text)
    numbers = [int(number) for number in re.findall(r"\d+", named[1])] if named else []
    return list(range(numbers[0], numbers[1] + 1)) if named and " to " in named[1] else numbers


# ---- what a screen reader goes by


def test_the_outline_of_each_page_has_no_gap(site: Path) -> None:
    for page in pages(site):
        headings = parsed(page).select("main :is(h1, h2, h3, h4, h5, h6)")
        levels = [int(one.name[1]) for one in headings if not one.find_parent(class_="onlyprint")]
        if not parsed(page).select_one("main"):
            continue  # a redirection
        assert levels[0] == 1 and levels.count(1) == 1, (page.name, levels)
        assert all(later <= level + 1 for level, later in itertools.pairwise(levels)), (page.name, levels)


def test_each_table_has_headers_that_say_what_they_head(site: Path) -> None:
    found = 0
    for page in pages(site):
        for table in parsed(page).select("main table:not(.indextable)"):
            heads = table.find_all("th")
            assert heads, f"{page.name}: a table without headers: {table.get_text()[:80]}"
            for one in heads:  # in its head a table says what stands below, in a row what stands beside
                assert one.get("scope") == ("col" if one.find_parent("thead") else "row"), f"{page.name}: {one}"
            found += 1
    assert found > 30


def test_a_header_in_a_row_heads_the_row() -> None:
    context = {
        "body": "<table><thead><tr><th>a</th></tr></thead><tbody><tr><th class='stub'>b</th></tr></tbody></table>"
    }
    light_theme.scope_headers(None, "", "", context, None)
    assert re.findall(r'<th scope="(\w+)"', context["body"]) == ["col", "row"]


PARTS = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}


def test_each_formula_is_there_to_be_said(site: Path) -> None:
    found = parts = 0
    for page in pages(site):
        for formula in parsed(page).select(".katex"):
            assert formula.select_one(".katex-mathml math") and formula.select_one(".katex-html[aria-hidden=true]")
            for one in formula.find_all(list(PARTS)):
                assert len(one.find_all(recursive=False)) == PARTS[one.name], f"{page.name}: {one}"
                parts += 1
            found += 1
    assert found > 500 and parts > 500


# ---- mistakes of an author end the build, with a message that names them

MISTAKES = {
    "$$\n\\frac{1}{2\n$$": r"page.md:3: WARNING: this formula is wrong: \\frac\{1\}\{2",
    "A word, and $\\notacommand$.": r"page.md:7: WARNING: this formula is wrong: \\notacommand",
    "As {ref}`nowhere` says.": r"page.md:9: WARNING: undefined label: 'nowhere'",
    "As {eq}`nothing` says.": r"page.md:11: WARNING: equation not found: nothing",
    "See {doc}`no_page`.": r"page.md:13: WARNING: unknown document: 'no_page'",
    "See {cite:p}`nobody1999`.": r"page.md:15: WARNING: could not find bibtex key \"nobody1999\"",
}


def test_mistakes_fail_the_build_and_the_next_one_too(small_book: Path) -> None:
    text = "\n\n".join(MISTAKES)
    (small_book / "book/page.md").write_text(f"# The page\n\n{text}\n", encoding="utf-8")
    for _ in range(2):
        built = build_book(small_book, small_book.parent / "out")
        assert built.returncode != 0
        warnings = [line for line in re.sub(r"\x1b\[\d+m", "", built.stderr).splitlines() if "WARNING" in line]
        for message in MISTAKES.values():
            assert len([line for line in warnings if re.search(message, line)]) == 1, (message, warnings)
        assert len(warnings) == len(MISTAKES), warnings


# ---- an incremental build


def test_an_incremental_build_has_new_glyphs_icons_and_titles(small_book: Path) -> None:
    html, page = small_book.parent / "out/_build/html", small_book / "book/page.md"

    def glyphs(font: str) -> set[int]:
        return set(TTFont(html / "_static" / font).getBestCmap())

    fraktur, icons = "katex/fonts/KaTeX_Fraktur-Regular.woff2", "vendor/fontawesome/webfonts/fa-solid-900.woff2"
    assert build_book(small_book, small_book.parent / "out").returncode == 0
    assert ord("Z") not in glyphs(fraktur)
    assert 0xF135 not in glyphs(icons)

    page.write_text('# Renamed\n\n$\\mathfrak{Z}$ <i class="fa-solid fa-rocket"></i>\n', encoding="utf-8")
    assert build_book(small_book, small_book.parent / "out").returncode == 0
    assert ord("Z") in glyphs(fraktur)
    assert 0xF135 in glyphs(icons)
    names = TTFont(html / "_static" / icons)["name"]  # of a font that was cut it may not be the reserved one
    assert {names.getDebugName(number) for number in (1, 4, 6)} == {"BookIcons"}
    assert "Renamed" in parsed(html / "book/other.html").select_one(".bd-links").get_text()


def test_a_page_is_read_anew_when_a_file_that_it_tells_of_changes(site: Path) -> None:
    """The landing page adds up the chapters' minutes; a tab says by which version of a framework it was run."""
    env = pickle.loads((site.parent / ".doctrees/environment.pickle").read_bytes())
    depends = {page: {Path(file).name for file in files} for page, files in env.dependencies.items()}
    assert depends["book/index"] >= {f"{name}.ipynb" for name in CHAPTERS}
    with_tabs = [name for name in CHAPTERS if ":class: twins" in (ROOT / f"book/{name}.ipynb").read_text("utf-8")]
    assert len(with_tabs) > 10
    assert [name for name in with_tabs if "requirements.txt" not in depends[f"book/{name}"]] == []


def test_each_file_that_decides_how_a_page_is_made_counts(monkeypatch, tmp_path) -> None:
    shutil.copytree(ROOT / "book", tmp_path / "book", ignore=shutil.ignore_patterns("*.ipynb", "__pycache__"))
    monkeypatch.setattr(whole_builds, "BOOK", tmp_path / "book")
    folders = [tmp_path / "book" / name for name in ("_ext", "_static", "_templates")]
    files = [file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()]
    assert {file.suffix for file in files} >= {".py", ".js", ".css", ".html"}
    for file in files:
        before = whole_builds.digest_of_the_machinery()
        file.write_bytes(file.read_bytes() + b"\n")
        assert whole_builds.digest_of_the_machinery() != before, file.name


def test_equations_are_numbered_and_linked(published: Path) -> None:
    page = parsed(published / "book/page.html")
    assert [number.get_text().rstrip("#") for number in page.select(".eqno")] == ["(1)", "(2)"]
    links = {
        link["href"]: link.get_text() for link in page.select("a.reference.internal") if "equation" in link["href"]
    }
    assert links == {"#equation-eq-one": "(1)", "#equation-eq-two": "(2)"}
    assert all(page.select_one(f"div.math{target} .katex-display") for target in links)


def test_launch_buttons_appear_with_a_repository(published: Path) -> None:
    page = parsed(published / "book/other.html")
    links = [a["href"] for a in page.find_all("a", href=True) if "mybinder.org" in a["href"]]
    repository = REPOSITORY.removeprefix("https://github.com/")
    assert links == [f"https://mybinder.org/v2/gh/{repository}/main?urlpath=lab/tree/book/other.ipynb"]


def test_without_a_repository_no_page_offers_a_launch(site: Path) -> None:
    for page in pages(site):
        assert "mybinder.org" not in page.read_text("utf-8"), page.name
