"""Style sheets cut to what a page can use, and written into the page: nothing is fetched before its first paint.

A page would load eleven sheets, 64 KiB gzipped, most of whose rules name what no page of this book has. A rule stays on
a page if one of its selectors names only what the page has: tags, classes, ids and attributes

* that stand in its markup, or
* that are words in the text of a script: those that the page loads, and all in the book's own folders. So a class that
  a script sets is found where the script names it; `NAMED_NOWHERE` below has the few that are not found so.

Pseudo-classes (`:hover`, `:not(...)`), media queries (dark, print, forced colours) and values of attributes are never
looked at: they say in which state a rule holds. Custom properties and animations stay if what stays uses them.

The whole sheets stay beside the pages. `tests/site/test_cut_styles.py` compares both in a browser.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import tinycss2
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

log = logging.getLogger(__name__)

# Names of elements and states that no script has as a word of its own, or whose script is not read.
NAMED_NOWHERE = {
    *{"open", "disabled", "hidden", "tbody"},  # attributes and elements that a browser adds by itself
    # Bootstrap names all of its components. The theme uses two of them, menus and tooltips:
    *{"show", "fade", "tooltip", "tooltip-arrow", "tooltip-inner", "bs-tooltip-auto"},
    *{"data-bs-popper", "data-popper-placement"},
}
NOT_READ = "bootstrap.js"
HERE = Path(__file__).parent
OWN_TEXTS = {".js", ".mjs", ".py"}  # what may name a class, in the folders beside this file and of `html_static_path`

LINK = re.compile(r'[ \t]*<link\b[^>]*\brel="stylesheet"[^>]*>\n?')
SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.S)
ADDRESS = re.compile(r"""url\(\s*(["']?)(?!data:|#|[a-z]+:|/)([^"')]+)\1\s*\)""")
WORD = re.compile(r"[\w-]+")
PROPERTY = re.compile(r"--[\w-]+")


# ---- style sheets, read once


@dataclass
class Rule:
    """Selectors, each with the names that it needs, and declarations: `(property, text)`."""

    selectors: list[tuple[str, frozenset[str]]]
    declarations: list[tuple[str, str]]


@dataclass
class Group:
    """Rules behind a condition, such as `@media print`."""

    head: str
    rules: list[Any]


@dataclass
class Other:
    """An animation, which is of use where its name stands; or, without a name, what stays as it is, such as a font."""

    name: str
    text: str


@cache
def sheet(path: Path, static: Path) -> list[Any]:
    """The rules of a style sheet and of those that it imports; addresses in it are made relative to `static`."""
    folder = posixpath.relpath(path.parent.as_posix(), static.as_posix())
    moved = ADDRESS.sub(lambda a: f"url({posixpath.normpath(posixpath.join(folder, a[2]))})", path.read_text("utf-8"))
    return list(_read(tinycss2.parse_stylesheet(moved, skip_comments=True, skip_whitespace=True), path, static))


def _read(nodes: Iterable[Any], path: Path, static: Path) -> Iterator[Any]:
    for node in nodes:
        if node.type == "error":
            raise ValueError(f"{path.name}, line {node.source_line}: {node.message}")
        if node.type == "qualified-rule":
            yield Rule([(_text(one), needs(one)) for one in _split(node.prelude)], _declarations(node.content))
        elif node.at_keyword == "import":
            (address,) = (token.value for token in node.prelude if token.type in ("string", "url"))
            yield from sheet((path.parent / address).resolve(), static)
        elif node.at_keyword in ("media", "supports", "container"):
            inner = tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True)
            yield Group(f"@{node.at_keyword} {_text(node.prelude)}", list(_read(inner, path, static)))
        elif node.at_keyword == "keyframes":
            yield Other(_text(node.prelude), node.serialize())
        elif node.at_keyword != "charset":
            yield Other("", node.serialize())


def needs(selector: list[Any]) -> frozenset[str]:
    """The names without which a selector matches nothing: `a`, `.note`, `#top`, `[href`."""
    found, before = set(), ""
    for token in selector:
        if token.type == "ident" and before != ":":
            found.add("." + token.value if before == "." else token.value.lower())
        elif token.type == "hash":
            found.add("#" + token.value)
        elif token.type == "[] block":
            found.add("[" + next(part.value for part in token.content if part.type == "ident"))
        before = token.value if token.type == "literal" else ""
    return frozenset(found)


def _split(tokens: list[Any]) -> list[list[Any]]:
    parts: list[list[Any]] = [[]]
    for token in tokens:
        if token == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _declarations(content: list[Any]) -> list[tuple[str, str]]:
    """Each with its name. What is nested in a rule goes without one and stays; an error is skipped, as in browsers."""
    nodes = tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True)
    return [
        _declaration(node) if node.type == "declaration" else ("", _text([node]))
        for node in nodes
        if node.type != "error"
    ]


def _declaration(node: Any) -> tuple[str, str]:
    return node.name, f"{node.name}:{_text(node.value) or ' '}{'!important' if node.important else ''}"


def _text(tokens: list[Any]) -> str:
    """Without comments, and with one space for any other."""
    space = tinycss2.ast.WhitespaceToken(0, 0, " ")
    tokens = [space if token.type == "whitespace" else token for token in tokens if token.type != "comment"]
    return tinycss2.serialize(tokens).strip()


# ---- what a page has


class Markup(HTMLParser):
    """Gathers what selectors can name, and custom properties that are used in the page itself."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note the names of one element."""
        self.names.add(tag)
        for name, value in attributes:
            self.names.add("[" + name)
            if name == "class":
                self.names.update("." + one for one in (value or "").split())
            elif name == "id":
                self.names.add("#" + (value or ""))


@cache
def words_of(script: Path) -> Set[str]:
    """All words in a script."""
    return set(WORD.findall(script.read_text("utf-8")))


@dataclass
class Known:
    """What a page names: in its markup, and as words in its scripts."""

    markup: set[str]
    words: set[str]
    answers: dict[str, bool] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Whether an element of the page may have what a selector names."""
        if name not in self.answers:
            self.answers[name] = name in self.markup or name.lstrip(".#[") in self.words
        return self.answers[name]


def known_on(page: str, folder: Path, own: Set[str]) -> Known:
    """What a page, which lies in `folder`, and its scripts name, beside the words of the book's `own` scripts."""
    words = {*NAMED_NOWHERE, *own, *PROPERTY.findall(page)}
    for attributes, text in SCRIPT.findall(page):
        address = re.search(r'src="([^"]+)"', attributes)
        words.update(WORD.findall(text))
        if address and NOT_READ not in address[1]:
            words |= words_of(local(address[1], folder))
    return Known(Markup(page).names, words)


def local(address: str, folder: Path) -> Path:
    """The file that an address in a page of this folder means.

    Raises:
        ExtensionError: if it lies at another host, from which no page may load.
    """
    parts = urlsplit(address)
    if parts.netloc:
        raise ExtensionError(f"{address} is loaded from another host; put the file into book/_static")
    return (folder / unquote(parts.path)).resolve()


# ---- the cut


def cut(rules: list[Any], known: Known) -> str:
    """The text of the rules that a page can use."""
    kept = _keep(rules, known)
    used = known.words | _used_by(kept)
    return "".join(_written(kept, used))


def _keep(rules: list[Any], known: Known) -> list[Any]:
    kept: list[Any] = []
    for rule in rules:
        if isinstance(rule, Group):
            inner = _keep(rule.rules, known)
            kept += [Group(rule.head, inner)] if inner else []
        elif isinstance(rule, Rule):
            selectors = [(text, names) for text, names in rule.selectors if all(map(known.has, names))]
            kept += [Rule(selectors, rule.declarations)] if selectors else []
        else:
            kept.append(rule)
    return kept


def _used_by(rules: list[Any]) -> set[str]:
    """Custom properties and animations that the rules use: directly, or through a custom property."""
    every = list(_declarations_of(rules))
    used = {word for name, text in every if not name.startswith("--") for word in _mentioned(text)}
    while (
        more := {w for name, text in every if name in used and name.startswith("--") for w in _mentioned(text)} - used
    ):
        used |= more
    return used


def _declarations_of(rules: list[Any]) -> Iterator[tuple[str, str]]:
    for rule in rules:
        if isinstance(rule, Group):
            yield from _declarations_of(rule.rules)
        elif isinstance(rule, Rule):
            yield from rule.declarations


@cache
def _mentioned(text: str) -> Set[str]:
    """The words in the value of a declaration."""
    return set(WORD.findall(text.partition(":")[2]))


def _written(rules: list[Any], used: Set[str]) -> Iterator[str]:
    for rule in rules:
        if isinstance(rule, Other):
            yield rule.text if not rule.name or rule.name in used else ""
        elif isinstance(rule, Group):
            inner = "".join(_written(rule.rules, used))
            yield f"{rule.head}{{{inner}}}\n" if inner else ""
        else:
            body = ";".join(text for name, text in rule.declarations if not name.startswith("--") or name in used)
            yield f"{','.join(text for text, _ in rule.selectors)}{{{body}}}\n" if body else ""


# ---- the pages


def cut_styles(app: Sphinx, exception: Exception | None) -> None:
    """Put in the place of the links to style sheets, on each page that this build wrote, the rules that it can use."""
    if exception or app.builder.format != "html":
        return
    out, own = Path(app.outdir).resolve(), words_of_the_book(app)
    static, weights = out / "_static", []
    for file in sorted(out.rglob("*.html")):
        page = file.read_text(encoding="utf-8")
        links = LINK.findall(page)
        if not links or file.is_relative_to(static):
            continue
        sheets = [local(re.search(r'href="([^"]+)"', link)[1], file.parent) for link in links]  # type: ignore[index]
        rules = [rule for one in sheets for rule in sheet(one, static)]
        style = cut(rules, known_on(page, file.parent, own))
        to_static = posixpath.relpath(static.as_posix(), file.parent.as_posix())
        style = ADDRESS.sub(lambda a, to=to_static: f"url({to}/{a[2]})", style)  # type: ignore[misc]
        names = " ".join(one.relative_to(static).as_posix() for one in sheets)
        whole = iter([f"<!-- Cut from _static: {names} -->\n<style>\n{style}</style>\n"])
        file.write_text(LINK.sub(lambda _, whole=whole: next(whole, ""), page), encoding="utf-8")  # type: ignore[misc]
        weights.append(len(style))
    sheet.cache_clear()
    if weights:
        log.info("styles: %d to %d bytes on %d pages", min(weights), max(weights), len(weights))


def words_of_the_book(app: Sphinx) -> set[str]:
    """All words in the book's own scripts, and custom properties in its sheets, also of those that are loaded late."""
    folders = [HERE, *(Path(app.confdir, folder) for folder in app.config.html_static_path)]
    files = {file for folder in folders for file in folder.rglob("*") if file.is_file() and file.parent != HERE}
    words = {word for file in files if file.suffix in OWN_TEXTS for word in words_of(file)}
    sheets = [file.read_text("utf-8") for file in files if file.suffix == ".css"]
    return words.union(*(PROPERTY.findall(text) for text in sheets))


def setup(app: Sphinx) -> dict[str, Any]:
    """Cut when all other steps have written their sheets, and before the icons are cut to those that are left."""
    app.connect("build-finished", cut_styles, priority=700)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
