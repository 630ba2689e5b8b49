"""The twins, without any of their frameworks: short, a number of their chapter in each, and known to have been run.

What they print is compared by `make twins`. A twin that has changed since is named in a line at the end of a run.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from dataclasses import replace
from typing import Any

import pytest
import twins as on_pages

from tests.support.printed import counts, is_printed
from tools import twins
from tools.chapters import CHAPTERS, code_cells, numbers_in, output_texts, printed_numbers, prose_cells, tags

every_chapter = pytest.mark.parametrize("chapter", CHAPTERS)
SYNC = {"PyTorch": "torch", "JAX": "jax", "MLX": "mlx"}


def shared(said: str, printed: str, numbers: frozenset[str]) -> list[str]:
    """The numbers of an output that a chapter prints: decimals, integers from 10 up, and shapes."""
    shapes = [shape for shape in re.findall(r"\(\d+(?:, \d+)+\)", said) if shape in printed]
    return shapes + [number for number in numbers_in(said) if counts(number) and is_printed(number, numbers)]


@every_chapter
def test_each_prints_a_number_of_its_chapter(chapter):
    printed = "\n".join(text for cell in code_cells(chapter) for text in output_texts(cell))
    for twin in twins.twins(chapter):
        assert shared(twin.said, printed, printed_numbers(chapter)), (
            f"{twin.name}: no cell of its chapter prints any of\n{twin.said}"
        )


@every_chapter
def test_each_has_2_to_8_lines(chapter):
    for twin in twins.twins(chapter):
        lines = [line for line in twin.code.splitlines() if line]
        assert 2 <= len(lines) <= 8 and max(map(len, lines)) <= 88, twin.name


@every_chapter
def test_no_cell_after_it_reads_a_name_that_it_binds(chapter):
    """Who runs a twin in the notebook gets the same from the cells that follow."""
    cells = [cell.source for cell in code_cells(chapter) if "raises-exception" not in tags(cell)]
    for twin in twins.twins(chapter):
        after = cells[cells.index(twin.uses[-1]) + 1 :] if twin.uses else cells
        reread = twins.binds(twin.code) & set().union(*map(twins.reads, after))
        assert not reread, f"{twin.name} binds {reread}"


@every_chapter
def test_every_block_in_a_tab_is_a_twin(chapter):
    for cell in prose_cells(chapter):
        found = [*twins.TAB.finditer(cell.source)]
        assert ("{tab-set}" in cell.source) == bool(found), cell.id
        for tab in found:
            assert f":sync: {SYNC[tab['name']]}\n" in tab["body"], (cell.id, "the choice is kept by this name")
            assert tab["body"].count("```") == 4 * len(twins.BLOCKS.findall(tab["body"])) > 0, (cell.id, tab["name"])


def test_there_are_enough():
    places = {(twin.chapter, twin.cell) for chapter in CHAPTERS for twin in twins.twins(chapter)}
    assert len(places) >= 30 and {chapter for chapter, _ in places} == set(CHAPTERS)


def test_a_page_names_each_framework_with_the_version_that_is_pinned():
    """The extension parses the pins itself: a build does not have this project's tools on its path."""
    trees = [ast.parse(twin.code) for chapter in CHAPTERS for twin in twins.twins(chapter)]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    used = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    used |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    others = {name.partition(".")[0] for name in used} - sys.stdlib_module_names - {"numpy", "lmhead"}
    assert set(on_pages.FRAMEWORKS) == others
    named = {on_pages.FRAMEWORKS[name]: twins.versions()[name] for name in others}
    assert dict(one.split() for one in on_pages.said_versions().split(", ")) == named


# ---- which cells a twin uses

CELLS = [
    "import numpy as np",
    "E = np.ones(3)",
    "rng = start()",
    "for z in E:\n    print(z)",
    "f = lambda: E * 2",
    "E[0] += 1",
]


@pytest.mark.parametrize(
    ("code", "used"),
    [
        ("print(1)", []),
        ("E = 2\nprint(E)", []),
        ("E = E + 1", [0, 1, 5]),
        ("print(f())", [0, 1, 4, 5]),
        ("print([e for e in E])", [0, 1, 5]),
        ("def g():\n    return rng", [2]),
    ],
)
def test_it_uses_what_it_reads_and_what_changed_that(code, used):
    assert twins.used(CELLS, code) == tuple(CELLS[i] for i in used)


@pytest.mark.parametrize("change", ["rng.normal()", "x = rng.choice(3)", "draw(rng)"])
def test_a_draw_changes_the_generator(change):
    assert twins.used(["rng = start()", change], "print(rng.random())") == ("rng = start()", change)


@pytest.mark.parametrize(
    "change", ["said.append(1)", "np.add.at(said, 0, 1)", "said.T[0] = 1", "said.x = 1", "said += [1]"]
)
def test_what_changes_a_value_in_place_is_used(change):
    assert twins.used(["said = []", change], "print(said)") == ("said = []", change)


# ---- what has changed since it was run


@pytest.fixture
def record(monkeypatch, tmp_path):
    """Twins as they were when last run, in a record that a test may change."""
    monkeypatch.setattr(twins, "CHECKED", tmp_path / "checked.json")
    return {"twins": dict(twins.digests()), "versions": dict(twins.versions())}


@pytest.mark.parametrize(("kind", "name"), [("twins", "06 twin-06-loss JAX"), ("versions", "jax")])
@pytest.mark.parametrize("then", [None, "another"])
def test_what_has_changed_is_named(record, kind, name, then):
    twins.CHECKED.write_text(json.dumps(record))
    assert twins.stale() == []
    record[kind][name] = then
    twins.CHECKED.write_text(json.dumps(record))
    assert twins.stale() == [f"{name} is not as it was when it was last run"]


def test_its_text_its_output_and_a_cell_it_uses_are_in_its_digest():
    (twin,) = [one for one in twins.twins("06_cross_entropy_by_hand") if one.name == "06 twin-06-loss JAX"]
    others: list[dict[str, Any]] = [
        {"code": twin.code + "\n"},
        {"said": twin.said + "1"},
        {"uses": (*twin.uses, "z = z + 1")},
    ]
    assert len({twin.digest, *(replace(twin, **other).digest for other in others)}) == 4
