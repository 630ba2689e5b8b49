"""How a chapter of the second edition is written. Each rule is a function of cells, tried on a planted violation below.

`NOT_YET` names the chapters that are not rewritten ("all"), or say other minutes than `tools.chapters.minutes` counts:
delete a chapter's line when it is done. In the end it is empty.
"""

from __future__ import annotations

import ast
import math
import re
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from tools.chapters import CHAPTERS, cells, code_cells, minutes, prose_cells, tags, widget_state, words_of
from tools.pins import NOTEBOOKS, read

NOT_YET: dict[str, str] = {}
DONE = [chapter for chapter in CHAPTERS if NOT_YET.get(chapter) != "all"]
PROMPT = "What this asserts"
every_chapter = pytest.mark.parametrize("chapter", DONE)


def test_nothing_is_put_off_that_is_not_there():
    assert set(CHAPTERS) >= set(NOT_YET), "take out of NOT_YET what is no chapter any more"


# ---- assertions


def names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def is_code(cell):
    return cell.cell_type == "code"


def asserts(cell):
    return [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Assert)]


def misplaced_assertions(book):
    """Cells that assert in the open, and `asserts` cells that are not folded, are empty, or follow no cell."""
    for n, cell in enumerate(book):
        if not is_code(cell) or {"exercise", "solution"} & set(tags(cell)):
            continue
        if "asserts" not in tags(cell):
            if asserts(cell):
                yield f"an assertion in a shown cell: move it into an `asserts` cell after it:\n{cell.source}"
            continue
        prompts = cell.metadata.get("mystnb", {})
        if (
            "hide-input" not in tags(cell)
            or [prompts.get(f"code_prompt_{w}") for w in ("show", "hide")] != [PROMPT] * 2
        ):
            yield f"fold it: tag hide-input, and mystnb.code_prompt_show and _hide {PROMPT!r}:\n{cell.source}"
        if not any(names(one.test) for one in asserts(cell)) or cell.outputs:
            yield f"an `asserts` cell asserts something, and prints nothing:\n{cell.source}"
        if not any(is_code(before) for before in book[:n]):
            yield f"it follows no cell:\n{cell.source}"


WIDEST = {"rtol": 0.02, "atol": 0.07}


def wide_tolerances(cell):
    """Closenesses that must hold within a tolerance so wide that little else could be; `not np.isclose` may be so."""
    tree = ast.parse(re.sub(r"^[%!].*$", "", cell.source, flags=re.M))
    negated = {id(node) for no in ast.walk(tree) if isinstance(no, ast.UnaryOp) for node in ast.walk(no)}
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in WIDEST and id(node) not in negated:
            if not isinstance(node.value, ast.Constant):
                yield f"write {node.arg} as a number:\n{cell.source}"
            elif float(str(node.value.value)) > WIDEST[node.arg]:
                yield f"{node.arg} {ast.unparse(node.value)} is more than {WIDEST[node.arg]}:\n{cell.source}"


def unasserted_claims(book):
    """Claims whose cell is followed by no `asserts` cell that names something of it."""
    code = [cell for cell in book if is_code(cell)]
    for n, cell in enumerate(code):
        claims = [tag for tag in tags(cell) if tag.startswith("claim-")]
        if not claims or "quiz" in tags(cell):
            continue
        after = next((c for c in code[n + 1 :] if not any(tag.startswith("claim-") for tag in tags(c))), None)
        if after is None or "asserts" not in tags(after):
            yield f"{claims}: the next cell after it is no `asserts` cell:\n{cell.source}"
        elif not names(ast.parse(cell.source)) & set().union(*(names(one.test) for one in asserts(after))):
            yield f"{claims}: what is asserted names nothing of it:\n{cell.source}"


@every_chapter
def test_assertions_are_folded_after_what_they_are_about(chapter):
    assert [*misplaced_assertions(cells(chapter))] == []


@every_chapter
def test_every_claim_is_asserted_after_its_cell(chapter):
    assert [*unasserted_claims(cells(chapter))] == []


# ---- what to remember


def faults_of_remembering(text, number, labels):
    """Lines that lack a link, or whose links do not lead to a cell of this chapter and to their own attempt."""
    section = re.search(r"^## What to remember\n(.*?)(?=^#|^Next:|\Z)", text, re.M | re.S)
    lines = re.split(r"^- ", section[1], flags=re.M)[1:] if section else []
    if not 1 <= len(lines) <= 5:
        yield f"one to five lines to remember; there are {len(lines)}"
    for k, line in enumerate(lines, start=1):
        shown, tried = r"\[shown\](\(#[\w-]+\)(?: \[and here\]\(#[\w-]+\))*)", r"\[tried\]\(#([\w-]+)\)"
        links = re.search(rf"{shown} {tried}\s*$", " ".join(line.split()))
        if not links:
            yield f"end with [shown](#...) [and here](#...) [tried](#conclusion-{number}-{k}): {line}"
        else:
            for label in re.findall(r"#([\w-]+)", links[1]):
                if label.lower() not in labels:
                    yield f"no cell of this chapter has the label {label}: {line}"
            if links[2] != f"conclusion-{number}-{k}":
                yield f"[tried] leads to {links[2]}, and this is line {k}: {line}"


@every_chapter
def test_what_to_remember_is_shown_and_was_tried(chapter):
    text = "\n\n".join(cell.source for cell in prose_cells(chapter))
    labels = {label.lower() for label in re.findall(r"^\(([\w-]+)\)=$", text, re.M)}
    assert [*faults_of_remembering(text, chapter[:2], labels)] == []


# ---- time


@pytest.mark.parametrize("chapter", [chapter for chapter in CHAPTERS if chapter not in NOT_YET])
def test_a_chapter_takes_at_most_25_minutes_and_says_how_many(chapter):
    whole = math.ceil(minutes(chapter))
    assert whole <= 25, f"{minutes(chapter):.1f} minutes to read and run: cut what does not carry its weight"
    said = " ".join(cells(chapter)[0].source.partition("**Time**")[2].split())
    quick_checks = sum("quiz" in tags(cell) for cell in code_cells(chapter))
    exercises = 7 * sum("exercise" in tags(cell) for cell in code_cells(chapter))
    stated = [int(n) for n in re.findall(r"(\d+) minutes", said)]
    assert stated == [whole, exercises, quick_checks], f"it says {stated} minutes; to read and run, exercises, checks"


# ---- quick checks


def choices(chapter):
    """The questions with answers to choose from."""
    views = [model["state"] for model in widget_state(chapter).values()]
    return [q for view in views for q in view.get("questions", []) if q["kind"] == "choice"]


def alone(extreme, question):
    """Where the option stands that is alone the longest (`max`) or the shortest (`min`), or None."""
    lengths = [len(re.sub("[*`]", "", answer)) for answer in question["answers"]]
    return lengths.index(extreme(lengths)) if lengths.count(extreme(lengths)) == 1 else None


def longest_is_right(question):
    return question["right"] == alone(max, question)


def off_chance(questions, bet):
    """Whether a bet on one option of each question wins more, or less, often than chance would let it.

    Chance wins one in n where there are n options. Two standard deviations to either side hold 19 of 20 sets of
    questions that nobody has arranged. A bet that wins too seldom tells as much: it strikes an option out.
    """
    won = [bet(q) == q["right"] for q in questions if bet(q) is not None]
    chances = [1 / len(q["answers"]) for q in questions if bet(q) is not None]
    said = f"{sum(won)} of {len(won)}, by chance {sum(chances):.0f}"
    return said if abs(sum(won) - sum(chances)) > 2 * math.sqrt(sum(p * (1 - p) for p in chances)) else None


def giveaways(questions):
    """What a reader who knows nothing could go by: length, or place."""
    for name, extreme in (("longest", max), ("shortest", min)):
        if found := off_chance(questions, partial(alone, extreme)):
            yield f"where one option alone is the {name}, it is right in {found}"
    for size in {len(q["answers"]) for q in questions}:
        alike = [q for q in questions if len(q["answers"]) == size]
        for place in range(size):
            if len(alike) >= 6 and (found := off_chance(alike, lambda q, place=place: place)):
                yield f"of {size} options number {place + 1} is right in {found}"


def test_neither_length_nor_place_gives_the_right_option_away():
    assert [*giveaways([question for chapter in DONE for question in choices(chapter)])] == []


@every_chapter
def test_the_right_option_is_not_the_longest_in_more_than_a_third(chapter):
    questions = choices(chapter)
    longest = [q["question"] for q in questions if longest_is_right(q)]
    assert len(longest) <= math.ceil(len(questions) / 3), (
        f"shorten the right option, or say more in the others: {longest}"
    )


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_assertion_has_a_tolerance_that_lets_everything_pass(notebook):
    found = [cell for cell in read(notebook.read_text("utf-8")) if is_code(cell) and "asserts" in tags(cell)]
    assert [fault for cell in found for fault in wide_tolerances(cell)] == []


# ---- the rules themselves, each broken once


def code(source, *cell_tags, outputs=(), folded=True):
    metadata: dict[str, Any] = {"tags": list(cell_tags)}
    if "asserts" in cell_tags and folded:
        metadata |= {"mystnb": {"code_prompt_show": PROMPT, "code_prompt_hide": PROMPT}}
        metadata["tags"].append("hide-input")
    return SimpleNamespace(cell_type="code", source=source, metadata=metadata, outputs=list(outputs))


SHOWN = code("p = softmax(z)", "claim-A13")


def test_what_is_right_passes():
    book = [SHOWN, code("assert p.sum() == 1", "asserts"), code("assert yours", "solution")]
    assert [*misplaced_assertions(book), *unasserted_claims(book)] == []
    for shown in ("[shown](#claim-a13)", "[shown](#claim-A13) [and here](#shown-05-1)"):
        remembered = f"## What to remember\n\n- One.\n  {shown} [tried](#conclusion-05-1)\n\nNext: more."
        assert [*faults_of_remembering(remembered, "05", {"claim-a13", "shown-05-1"})] == []


@pytest.mark.parametrize(
    "book",
    [
        [code("x = 1\nassert x")],
        [SHOWN, code("assert p.sum() == 1", "asserts", folded=False)],
        [SHOWN, code("print(p)", "asserts")],
        [SHOWN, code("assert True", "asserts")],
        [SHOWN, code("assert p.any()", "asserts", outputs=["1"])],
        [code("assert p.any()", "asserts")],
    ],
)
def test_a_misplaced_assertion_is_seen(book):
    assert len([*misplaced_assertions(book)]) == 1


def test_a_wide_tolerance_is_seen():
    wide, fine, negated = (f"assert {no}np.allclose(p, q, {how})" for no, how in
                           (("", "rtol=1"), ("", "rtol=1e-15, atol=0"), ("not ", "atol=1")))  # fmt: skip
    assert [len([*wide_tolerances(code(source))]) for source in (wide, fine, negated)] == [1, 0, 0]
    assert len([*wide_tolerances(code("assert np.isclose(p, q, atol=bound)"))]) == 1


@pytest.mark.parametrize("after", [[], [code("p")], [code("assert other == 1", "asserts")]])
def test_a_claim_that_nothing_asserts_is_seen(after):
    assert len([*unasserted_claims([SHOWN, *after])]) == 1


@pytest.mark.parametrize(
    "lines",
    [
        "",
        "- One.",
        "- One. [shown](#claim-a13)",
        "- One. [shown](#claim-a14) [tried](#conclusion-05-1)",
        "- One. [shown](#claim-a13) [and here](#claim-a14) [tried](#conclusion-05-1)",
        "- One. [shown](#claim-a13) [tried](#conclusion-05-2)",
    ],
)
def test_a_line_without_its_links_is_seen(lines):
    assert len([*faults_of_remembering(f"## What to remember\n\n{lines}\n", "05", {"claim-a13"})]) == 1


def test_a_giveaway_is_seen():
    fair = [{"answers": ["aa", "bb", "cc"], "right": n % 3} for n in range(12)]
    assert [*giveaways(fair)] == []
    long, short, unmarked = ["aaa", "b", "bb"], ["a", "bbb", "bb"], ["`a`", "bbb", "bb"]
    for answers, name in ((long, "longest"), (short, "shortest"), (unmarked, "shortest")):
        for right in ([0] * 12, [1, 2] * 6):  # always, and never
            found = [*giveaways([{"answers": answers, "right": place} for place in right])]
            assert any(f"the {name}, it is right in {12 * (right[0] == 0)} of 12, by chance 4" in one for one in found)
    for right in ([1] * 12, [0, 2] * 6):
        found = [*giveaways([question | {"right": place} for question, place in zip(fair, right, strict=True)])]
        assert f"of 3 options number 2 is right in {12 * (right[0] == 1)} of 12, by chance 4" in found


def test_words_are_those_that_a_page_shows():
    assert words_of("(a-label)=\n## Two *words*\n\n[a link](#b) {doc}`05_x` $x + y$") == [
        "Two", "words", "[a", "link", "05_x", "formula",
    ]  # fmt: skip
    assert words_of("One\n\n:::{dropdown} A hint\nfolded words\n:::\n\ntwo") == ["One", "two"]
    tabs = "::::{tab-set}\n:class: twins\n\n:::{tab-item} JAX\nwords in a tab\n:::\n::::"
    assert words_of(f"One\n\n{tabs}\n\ntwo") == ["One", "two"]
