"""The page of claims, the cells that show them and the labels that link them stay in step."""

from __future__ import annotations

import ast
import re

import pytest

from tools.chapters import BOOK, CHAPTERS, cells, proof, tags

HOLDS, LIMIT, NOT, QUICK_CHECK, PROSE = VERDICTS = (
    "holds", "holds, with a limit", "does not hold", "quick check", "nothing to compute",
)  # fmt: skip
IDS = [f"A{n:02d}" for n in range(1, 31)] + [f"B{n:02d}" for n in range(1, 32)]
ROW = re.compile(r"^\| \[(\w\d\d)\]\(#claim-(\w\d\d)\) \| (.+) \| (.+) \|$", re.M)


def rows():
    return ROW.findall((BOOK / "claims.md").read_text("utf-8"))


def tagged():
    """(claim, chapter, cell before, cell) for every tag."""
    for chapter in CHAPTERS:
        for before, cell in zip(cells(chapter), cells(chapter)[1:], strict=False):
            for tag in tags(cell):
                if tag.startswith("claim-"):
                    yield tag.removeprefix("claim-"), chapter, before, cell


def verdict_of(plain):
    """The verdict with which a cell of the page begins; the page alone says which one, and its pin holds it."""
    return max((v for v in VERDICTS if re.match(rf"{v}(?![\w,])", plain)), key=len, default=None)


def verdicts():
    return {claim: verdict_of(verdict.replace("*", "")) for claim, _, _, verdict in rows()}


def test_every_claim_has_one_row_and_a_verdict():
    assert sorted(claim for claim, *_ in rows()) == IDS
    for claim, link, said, verdict in rows():
        assert link == claim.lower(), f"{claim} links to claim-{link}"
        assert len(said) > 20
        plain = verdict.replace("*", "")
        found = verdict_of(plain)
        assert found, f"{claim} says {plain!r}: begin with one of {VERDICTS}"
        if found in (LIMIT, NOT):
            assert len(plain) > len(found) + 15, f"{claim}: say what the limit is, or what is right"


def test_what_does_not_hold_stands_first():
    wrong = [claim for claim, verdict in verdicts().items() if verdict == NOT]
    assert [claim for claim, *_ in rows()][: len(wrong)] == wrong, "not in the first table, and only there"


def test_every_claim_is_shown_by_one_cell():
    """Which one, the pin of its chapter says."""
    shown = sorted(claim for claim, *_ in tagged())
    assert shown == [claim for claim in IDS if verdicts()[claim] != PROSE]


@pytest.mark.parametrize("claim", [claim for claim, verdict in verdicts().items() if verdict == PROSE])
def test_what_cannot_be_computed_has_a_labelled_passage(claim):
    pages = "\n".join(cell.source for chapter in CHAPTERS for cell in cells(chapter) if cell.cell_type == "markdown")
    pages += (BOOK / "summary.md").read_text("utf-8")
    assert len(re.findall(rf"^\(claim-{claim}\)=\n\S", pages, re.M)) == 1


def test_each_cell_is_labelled_and_it_or_the_folded_one_after_it_asserts():
    for claim, chapter, before, cell in tagged():
        assert f"(claim-{claim})=" in before.source.splitlines()[-12:], (
            f"{chapter}: end the cell before claim {claim}'s with the label (claim-{claim})="
        )
        asserts = [node for node in ast.walk(ast.parse(proof(chapter, cell))) if isinstance(node, ast.Assert)]
        real = [node for node in asserts if any(isinstance(n, ast.Name) for n in ast.walk(node.test))]
        assert real, (
            f"{chapter}: claim {claim} is asserted neither by its cell nor by the folded one after it:\n{cell.source}"
        )


def test_labels_and_tags_agree():
    labels = [
        label
        for chapter in CHAPTERS
        for cell in cells(chapter)
        if cell.cell_type == "markdown"
        for label in re.findall(r"^\(claim-(\w\d\d)\)=$", cell.source, re.M)
    ]
    assert len(labels) == len(set(labels)), "a claim is labelled twice"
    assert {claim for claim, *_ in tagged()} <= set(labels)


def test_links_lead_where_they_say():
    for page in BOOK.glob("*.md"):
        for shown, target in re.findall(r"\[([AB]\d\d)\]\(#claim-(\w\d\d)\)", page.read_text("utf-8")):
            assert shown.lower() == target, f"{page.name}: {shown} leads to {target}"
