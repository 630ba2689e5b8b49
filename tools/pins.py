"""What the book states and no computation can check: which answer of a quick check is right and what each wrong one is
told, what a claim's cell asserts, every display formula, the numbers of the prose in their order, every row of the
claims, the summary and the terms.

`pinned.json` holds it a second time, so that a change takes two deliberate edits, and a diff shows it in words. After a
change that is meant: `python -m tools.pins`.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
from pathlib import Path
from typing import Any

from tools.chapters import (
    BOOK,
    CHAPTERS,
    code_cells,
    figures,
    numbers_in,
    proof,
    prose_cells,
    said_beside,
    tags,
    widget_state,
)

PINNED = Path(__file__).parents[1] / "tests/book/pinned.json"


def stated() -> dict[str, Any]:
    """All of it, as the book has it now."""
    return {
        "quick checks": {chapter: quick_checks(chapter) for chapter in CHAPTERS},
        "asserted": {chapter: asserted(chapter) for chapter in CHAPTERS},
        "formulas": {chapter: formulas(chapter) for chapter in CHAPTERS},
        "numbers": {chapter: numbers(chapter) for chapter in CHAPTERS},
        "claims": re.findall(r"^\| \[\w\d\d\].*", (BOOK / "claims.md").read_text("utf-8"), re.M),
        "summary": re.findall(r"^(?:\| |- ).*", (BOOK / "summary.md").read_text("utf-8"), re.M),
        "notation": re.findall(r"^\| .*", (BOOK / "notation.md").read_text("utf-8"), re.M),
        "terms": re.findall(r"^\| .*", (BOOK / "questions.md").read_text("utf-8"), re.M),
    }


def quick_checks(chapter: str) -> dict[str, Any]:
    """Each question with its right answer and the messages of the others."""
    views = [model["state"] for model in widget_state(chapter).values()]
    asked = [question for view in views for question in view.get("questions", [])]
    return {question["question"]: answers(question) for question in asked}


def answers(question: dict[str, Any]) -> dict[str, str]:
    """Answer -> what is said to it."""
    if question["kind"] == "choice":
        told = dict(zip(question["answers"], question["messages"], strict=True))
        return {**told, question["answers"][question["right"]]: "RIGHT"}
    return {f"{question['answer']:.6g}": "RIGHT", **{f"{w['value']:.6g}": w["message"] for w in question["wrong"]}}


def asserted(chapter: str) -> dict[str, list[str]]:
    """Claim -> what its cell, or the folded one after it, asserts."""

    def tests(source: str) -> list[str]:
        return [ast.unparse(node.test) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert)]

    return {
        tag: tests(proof(chapter, cell))
        for cell in code_cells(chapter)
        for tag in tags(cell)
        if tag.startswith("claim-")
    }


def formulas(chapter: str) -> list[str]:
    """The display formulas, in order."""
    return [" ".join(tex.split()) for c in prose_cells(chapter) for tex in re.findall(r"\$\$(.+?)\$\$", c.source, re.S)]


def numbers(chapter: str) -> list[str]:
    """The numbers of each text that has any. A cell prints them; which of them stands where is pinned."""
    texts = [*(cell.source for cell in prose_cells(chapter)), *itertools.chain(*map(said_beside, figures(chapter)))]
    return [" ".join(found) for text in texts if (found := numbers_in(text))]


if __name__ == "__main__":
    PINNED.write_text(json.dumps(stated(), indent=1, ensure_ascii=False) + "\n", "utf-8", newline="\n")
