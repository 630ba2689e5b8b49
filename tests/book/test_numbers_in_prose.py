"""No number stands in a sentence unless a cell prints it.

Every decimal, every percentage and every integer from 10 up, in Markdown cells, captions, alt texts, README and pages,
must be printed by a cell of that chapter (on a page: of a chapter that it links to) at that rounding; one below 0 with
its sign. A sentence beside a twin may also say what that twin prints. That a sentence has the right one of the printed
numbers is pinned (see tools/pins.py). Two kinds are marked instead: a number **quoted** from a source, and one that is
**given**, an input or a definition.

In a notebook the mark is in the cell's metadata, `{"numbers": {"quoted": ["2.313"], "given": ["512"]}}`; in a Markdown
file it is a comment, `<!-- given: 512; 100,000 -->` or `% given: 512`.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.printed import counts, is_printed
from tools.chapters import BOOK, CHAPTERS, ROOT, figures, numbers_in, printed_numbers, prose_cells, said_beside

PAGES = [ROOT / "README.md", *sorted(BOOK.glob("*.md"))]
MARK = re.compile(r"^(?:<!--|%)\s*(?:given|quoted):(.*?)(?:-->)?$", re.M)
NOT_PROSE = (
    r"```.*?```",  # code
    r"\]\([^)]*\)",  # a link's target
    r"\{(?:doc|ref|cite:\w|cite|eq|numref|download|minutes)\}`[^`]*`",
    r"^\([\w-]+\)=$",
    r"^:{3,}.*$|^:\w[\w-]*:.*$",  # a directive's head and options
    r"<[^>]*>",
    r"https?://\S+",
    r"\b[Cc]hapters? \d+(?:(?:, | and | to )\d+)*",
    r"\b\d+ · |\{doc\}`\d+ <",  # the number of a chapter before its title, or in a link to it
    r"\b\d+(?: to \d+)?\sminutes",
)


def prose_numbers(text: str) -> list[str]:
    for pattern in NOT_PROSE:
        text = re.sub(pattern, " ", text, flags=re.S | re.M if pattern.startswith("```") else re.M)
    text = text.replace("{,}", ",").replace(r"\,", " ")
    return [number for number in numbers_in(text) if counts(number)]


def unprinted(text: str, marked: list[str], printed: frozenset[str]) -> list[str]:
    free = {n.lstrip("-") for mark in marked for n in numbers_in(mark)}
    return [
        number for number in prose_numbers(text) if number.lstrip("-") not in free and not is_printed(number, printed)
    ]


def marked(cell: Any) -> list[str]:
    return [mark for kind in cell.metadata.get("numbers", {}).values() for mark in kind]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapter(chapter):
    printed = printed_numbers(chapter)
    for cell in prose_cells(chapter):
        of_twins = numbers_in("\n".join(re.findall(r"^```text\n(.*?)```", cell.source, re.M | re.S)))
        wrong = unprinted(cell.source, marked(cell), printed.union(of_twins))
        assert not wrong, f"no cell of {chapter} prints {wrong}; print it, or mark it quoted or given:\n{cell.source}"
    for cell in figures(chapter):
        for text in said_beside(cell):
            wrong = unprinted(text, marked(cell), printed)
            assert not wrong, f"a caption or alt text of {chapter} names {wrong}, which no cell prints:\n{text}"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_mark_has_outlived_its_number(chapter):
    for cell in (*prose_cells(chapter), *figures(chapter)):
        text = cell.source if cell.cell_type == "markdown" else " ".join(said_beside(cell))
        said = {number.lstrip("-") for number in numbers_in(text.replace("{,}", ","))}
        stale = [n for mark in marked(cell) for n in numbers_in(mark) if n.lstrip("-") not in said]
        assert not stale, f"the metadata of this cell of {chapter} mark {stale}, which it does not say:\n{text}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page):
    text = page.read_text("utf-8")
    marks = MARK.findall(text)
    text = re.sub(NOT_PROSE[0], " ", MARK.sub("", text), flags=re.S)
    everywhere = frozenset().union(*map(printed_numbers, CHAPTERS))
    for block in re.split(r"\n\s*\n|\n(?=[|*-])", text):
        linked = [chapter for chapter in CHAPTERS if chapter in block or f"chapter {int(chapter[:2])}" in block.lower()]
        claims = re.findall(r"#claim-(\w\d\d)", block)
        linked += [chapter for chapter in CHAPTERS for claim in claims if shows(chapter, claim)]
        printed = frozenset().union(*map(printed_numbers, linked)) if linked else frozenset()
        wrong = unprinted(block, marks, printed)
        elsewhere = [number for number in wrong if is_printed(number, everywhere)]
        assert not wrong, (
            f"{page.name}: {wrong} is printed by no cell of a chapter that this passage links to"
            f"{f' ({elsewhere} is by another: link to it)' if elsewhere else ''}:\n{block}"
        )


def shows(chapter: str, claim: str) -> bool:
    return any(f"(claim-{claim.upper()})=" in cell.source for cell in prose_cells(chapter))


def test_a_number_that_nobody_prints_is_seen():
    printed = frozenset({"0.41703", "24576", "0.659"})
    assert unprinted("It costs 0.417 nats, of 24,576 in all, p = 0.65900.", [], printed) == []
    assert unprinted("It costs 0.418 nats, 27% of 12.", [], printed) == ["0.418", "27", "12"]
    assert unprinted("It falls by 0.417, to -0.659, minus 0.417.", [], frozenset({"-0.417", "0.659"})) == ["-0.659"]
    assert unprinted("the source prints 2.313", ["2.313"], printed) == []
    assert prose_numbers("see [05](#claim-B15), SmolLM2-135M, 3 words, $W_{12}$ in chapter 10") == ["12"]
