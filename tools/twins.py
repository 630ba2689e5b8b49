"""The twins of the book's cells: the same in PyTorch, JAX and MLX, in tabs of the chapters, each with what it prints.

A twin is a ```python block and the ```text block under it, in a `{tab-item}`. It runs after those cells of its chapter
that it uses, and after no others. Here is all that needs no framework: to read the twins, and to say which of them are
not as they were when they were last run. `beyond/twins/run.py` runs them (`make twins`).
"""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

from tools.chapters import BOOK, CHAPTERS, ROOT
from tools.requirements import required

REQUIREMENTS = ROOT / "beyond/twins/requirements.txt"
CHECKED = ROOT / "beyond/twins/checked.json"  # what was run, and by what
TAB = re.compile(r"^(:{3,})\{tab-item\} (?P<name>[^\n]+)\n(?P<body>.*?)^\1$", re.M | re.S)
BLOCKS = re.compile(r"```python\n(?P<code>.*?)```\n+```text\n(?P<said>.*?)```", re.S)
NOT_RUN = {"quiz", "asserts", "exercise", "solution", "raises-exception"}


@dataclass(frozen=True)
class Twin:
    """One twin, and the sources of the cells that it uses, in their order."""

    chapter: str
    cell: str
    tab: str
    place: int  # in its tab, which may hold two: PyTorch, then transformers
    code: str
    said: str
    uses: tuple[str, ...]

    @property
    def name(self) -> str:
        """How a message calls it."""
        return f"{self.chapter[:2]} {self.cell} {self.tab}" + (f" {self.place + 1}" if self.place else "")

    @property
    def digest(self) -> str:
        """Of all that is run, and of what it printed."""
        return hashlib.sha256("\0".join([*self.uses, self.code, self.said]).encode()).hexdigest()[:12]


def twins(chapter: str) -> Iterator[Twin]:
    """The twins of a chapter, which is read as plain JSON: to have each cell validated takes far longer."""
    before: list[str] = []
    for cell in json.loads((BOOK / f"{chapter}.ipynb").read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            before += [] if NOT_RUN & set(cell["metadata"].get("tags", [])) else [source]
            continue
        for tab in TAB.finditer(source):
            for place, twin in enumerate(BLOCKS.finditer(tab["body"])):
                uses = used(before, twin["code"])
                yield Twin(chapter, cell["id"], tab["name"], place, twin["code"], twin["said"], uses)


# ---- which cells a twin uses


def used(before: list[str], code: str) -> tuple[str, ...]:
    """Of the cells before it those that make or change what `code` reads, or what these read."""
    wanted, kept = reads(code), set[int]()
    while more := {
        i for i, source in enumerate(before) if i not in kept and (binds(source) | changes(source)) & wanted
    }:
        kept |= more
        wanted |= set().union(*(reads(before[i]) for i in more))
    return tuple(before[i] for i in sorted(kept))


@functools.cache
def reads(code: str | CodeType) -> set[str]:
    """The names that a cell, or a function in it, reads before it has bound them itself."""
    bound: set[str] = set()
    found: set[str] = set()
    for step in dis.get_instructions(compile(code, "<cell>", "exec") if isinstance(code, str) else code):
        if step.opname == "STORE_NAME":
            bound.add(step.argval)
        elif step.opname in ("LOAD_NAME", "LOAD_GLOBAL"):
            found |= {step.argval} - bound
        elif isinstance(step.argval, CodeType):
            found |= reads(step.argval) - bound
    return found


@functools.cache
def binds(source: str) -> set[str]:
    """The names that a cell binds: assigned, defined, imported."""
    return {
        step.argval for step in dis.get_instructions(compile(source, "<cell>", "exec")) if step.opname == "STORE_NAME"
    }


@functools.cache
def changes(source: str) -> set[str]:
    """The names whose values a cell changes in place: `E[4] += 1`, `said.append(x)`, `np.add.at(n, i, 1)`, any draw."""
    found = {"rng"} & reads(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found |= root(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            if isinstance(call.func, ast.Attribute):
                found |= root(call.args[0] if call.func.attr == "at" else call.func.value)
    return found


def root(node: ast.expr) -> set[str]:
    """`E` of `E[4].T`; nothing for what has no name."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


# ---- what has changed since it was run


def versions() -> dict[str, str]:
    """What the twins are run with, as pinned."""
    return {pin.name: str(pin.specifier).removeprefix("==") for pin in required(REQUIREMENTS)}


def digests() -> dict[str, str]:
    """Every twin with its digest."""
    return {twin.name: twin.digest for chapter in CHAPTERS for twin in twins(chapter)}


def stale() -> list[str]:
    """A line for each twin, and each version, that is not as it was when it was last run."""
    checked = json.loads(CHECKED.read_text("utf-8"))
    changed = []
    for then, now in ((checked["twins"], digests()), (checked["versions"], versions())):
        changed += [name for name in then | now if then.get(name) != now.get(name)]
    return [f"{name} is not as it was when it was last run" for name in sorted(changed)]
