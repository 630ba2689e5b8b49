"""One symbol, one meaning: each symbol of a formula stands in `notation.md`, and variables named as there are that."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.support.meanings import MEANINGS
from tests.support.ran import ran
from tools.chapters import BOOK, CHAPTERS, figures, prose_cells, said_beside

FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+?)\$", re.S)
WORDS = re.compile(r"\\(?:text|operatorname|begin|end|mathrm)\{[^}]*\}")
SYMBOL = re.compile(r"(\\[A-Za-z]+|[A-Za-z])(?:_(\{[^}]*\}|\\?[A-Za-z0-9]+))?")
NO_SYMBOLS = r"\arg \cdot \cos \frac \infty \lVert \rVert \log \max \partial \qquad \quad \sqrt \sum \tanh \times \top"
INDICES = {"i", "j", "k", "n", "t"}  # a sentence of the notation says what each of them counts


# ---- what stands in formulas


class Row(NamedTuple):
    """A line of the notation."""

    symbols: list[str]
    chapter: str | None  # the only one that uses them


@functools.cache
def rows() -> list[Row]:
    found = []
    for line in re.findall(r"^\| (\$.*) \|$", (BOOK / "notation.md").read_text("utf-8"), re.M):
        first, second, *_ = line.split(" | ")
        chapter = re.search(r"<(\d\d_\w+)>", second)
        found.append(Row([s for math in formulas(first) for s in symbols_in(math)[:1]], chapter and chapter[1]))
    return found


def formulas(text: str) -> Iterator[str]:
    text = re.sub(r"```.*?```|`[^`]*`", " ", text, flags=re.S)
    for display, inline in FORMULA.findall(text):
        yield display or inline


def symbols_in(math: str) -> list[str]:
    r"""The symbols of a formula, such as `p`, `W_U`, `W_lm`, `\tau`; `w_` is a w with an index."""
    math = math.replace(r"W_{\mathrm{lm}}", r"\Wlm")
    math = WORDS.sub(" ", re.sub(r"n_\{\\mathrm\{\w+\}\}", " ", math))  # a count has a word for an index
    math = re.sub(r"(?<![A-Za-z\\])d(?=[HEW]|x)", " ", math)  # a gradient: dH, dE, dW_U, dx
    found = []
    for letter, index in SYMBOL.findall(math):
        if letter not in NO_SYMBOLS.split():
            symbol = {r"\Wlm": "W_lm"}.get(letter, letter)
            found.append("W_U" if (letter, index) == ("W", "U") else symbol + ("_" if index else ""))
    return found


def strange(texts: list[str], chapter: str) -> list[str]:
    """The symbols that the notation does not list for this chapter. A listed `p` allows `p_`, but `w_` no `w`."""
    known = INDICES | {s for row in rows() if row.chapter in (None, chapter) for s in row.symbols}
    used = {symbol for text in texts for math in formulas(text) for symbol in symbols_in(math)}
    return sorted(symbol for symbol in used if symbol not in known and symbol.removesuffix("_") not in known)


def test_no_symbol_stands_there_twice():
    listed = [symbol for row in rows() for symbol in row.symbols]
    assert sorted(listed) == sorted(set(listed)) and len(listed) > 25


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_symbol_of_a_chapter_stands_there(chapter):
    beside = itertools.chain(*map(said_beside, figures(chapter)))
    found = strange([*(cell.source for cell in prose_cells(chapter)), *beside], chapter)
    assert not found, f"{chapter} uses {found}: take the symbols of book/notation.md, or add a row there"


@pytest.mark.parametrize("page", ["claims", "index", "notation", "questions", "summary"])
def test_every_symbol_of_a_page_stands_there(page):
    text = (BOOK / f"{page}.md").read_text("utf-8")
    if page == "notation":
        text = text.partition("## In one chapter alone")[0]
    assert not strange([text], page)


@pytest.mark.parametrize("row", rows(), ids=lambda row: ",".join(row.symbols))
def test_every_symbol_that_stands_there_is_used(row):
    used = {
        symbol
        for chapter in CHAPTERS
        if row.chapter in (None, chapter)
        for cell in prose_cells(chapter)
        for math in formulas(cell.source)
        for symbol in symbols_in(math)
    }
    unused = [s for s in row.symbols if s not in used and f"{s}_" not in used]
    assert not unused, f"no {'chapter' if row.chapter is None else row.chapter} uses {unused}: take the row out"


def test_symbols_are_told_apart():
    assert symbols_in(r"z_j = h \cdot W_U[:, j], \; W_{\mathrm{lm}}^\top") == ["z_", "h", "W_U", "j", "W_lm"]
    assert symbols_in(r"\text{token} = \arg\max_j e_{\mathrm{id}_t} + e^{z_{i}} \, dW_U") == ["e_", "e", "z_", "W_U"]
    assert strange(["$w$ and $w_j$, $\\theta_j$, `$s$`"], CHAPTERS[0]) == ["\\theta_", "w"]


# ---- what variables hold


@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.kernel
def test_a_variable_is_what_its_name_says(chapter):
    for name, source in ran(chapter).misnamed:
        pytest.fail(f"`{name}` means something else in book/notation.md:\n{source}")


def test_the_names_are_those_of_the_notation():
    listed = set(re.findall(r"`(\w+)`", (BOOK / "notation.md").read_text("utf-8"))) | {"L"}
    assert set(MEANINGS) <= listed
