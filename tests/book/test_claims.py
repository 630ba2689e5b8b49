"""The page of claims, the cells that show them and the labels that link them stay in step."""

from __future__ import annotations

import ast
import re

import pytest

from tools.chapters import BOOK, CHAPTERS, cells, proof, tags

LIMIT, NOT, QUICK_CHECK, PROSE = "holds, with a limit", "does not hold", "quick check", "nothing to compute"
IDS = [f"A{n:02d}" for n in range(1, 31)] + [f"B{n:02d}" for n in range(1, 32)]
# The verdicts that were argued; all others are "holds".
ARGUED = {
    **dict.fromkeys(["A02", "A07", "A10", "A11", "A22", "A28", "A29", "B05", "B25", "B28", "B29"], LIMIT),
    **dict.fromkeys(["A14", "B15", "B17", "B27"], NOT),
    **dict.fromkeys(["A25", "A26", "A27"], QUICK_CHECK),
    **dict.fromkeys(["B20", "B22", "B26"], PROSE),
}
# The chapter that is each claim's home.
HOME = {
    "01": "A01 A02 A03 A16 A17 A18 A19 A29 A30 B01 B22",
    "02": "A04 A05 A06 A25 B02 B03 B04",
    "03": "A07 A26",
    "04": "A09 A10 A11 A20 B05",
    "05": "A12 A13 A14 A15 A21 A22 A23 A24 A27 A28 B06 B07 B21 B27",
    "06": "B09 B10 B13 B14 B15 B16 B17 B31",
    "07": "A08 B11 B12 B18 B19 B20 B29 B30",
    "08": "B23 B24 B25 B28",
    "11": "B08",
}
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


def test_every_claim_has_one_row_and_its_verdict():
    assert sorted(claim for claim, *_ in rows()) == IDS
    for claim, link, said, verdict in rows():
        assert link == claim.lower(), f"{claim} links to claim-{link}"
        assert len(said) > 20
        plain = verdict.replace("*", "")
        expected = ARGUED.get(claim, "holds")
        assert re.match(rf"{expected}(?![\w,])", plain), f"{claim} says {plain!r}, expected {expected!r}"
        if expected in (LIMIT, NOT):
            assert len(plain) > len(expected) + 15, f"{claim}: say what the limit is, or what is right"


def test_what_does_not_hold_stands_first():
    assert [claim for claim, *_ in rows()][:4] == sorted(claim for claim in IDS if ARGUED.get(claim) == NOT)


def test_every_claim_is_shown_by_one_cell_in_its_home():
    shown = sorted((claim, chapter[:2]) for claim, chapter, *_ in tagged())
    homes = {claim: chapter for chapter, claims in HOME.items() for claim in claims.split()}
    expected = sorted((claim, homes[claim]) for claim in IDS if ARGUED.get(claim) != PROSE)
    assert shown == expected


@pytest.mark.parametrize("claim", [claim for claim in IDS if ARGUED.get(claim) == PROSE])
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
