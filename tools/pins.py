"""Pin what the book states and no computation can check, and show what changed since it was pinned last.

    python -m tools.pins          write all pins anew (`make pins`)
    python -m tools.pins 06       those of the chapters and pages whose name holds "06"

A pin file of `tests/book/pins/` belongs to one chapter or page, to a text outside the book, a licence or the settings.
It holds, in order: a digest of every passage, caption, alt text and cell of code, and the cell's tags; every field of
every quick check; every range and step of a widget. The words that views share are in `words.json`, what the checkers
say and try in `checkers.json`, docstrings, messages and labels of the package and of what makes the pages in
`modules.json`. So any change of these takes two deliberate edits, and the second one, this command, prints each changed
sentence, old beside new, with the cells that it stands between and what they print. Of the last three it prints the
changed lines of the pins, and git has the words.
"""

from __future__ import annotations

import ast
import difflib
import functools
import hashlib
import itertools
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import nbformat
import numpy as np

from lmhead import check
from lmhead.check.run import Exercise
from tools.chapters import BOOK, ROOT, figure_name, output_texts, said_beside, tags

PINS = ROOT / "tests/book/pins"
NOTEBOOKS = sorted(BOOK.glob("*.ipynb"))
CHANGES = ROOT / "CHANGELOG.md"
OF_THE_PROJECT = [
    CHANGES,
    *(ROOT / name for name in ("CONTRIBUTING.md", "LICENSE", "LICENSE-TEXT.md", "README.md")),
    *(ROOT / name for name in ("_config.yml", "benchmarks/README.md", "lmhead/data/README.md")),
    *sorted((ROOT / "beyond").glob("*/README.md")),
    *sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")),
    ROOT / "lmhead/data/LICENSE-SmolLM2.txt",
]
PAGES = [*sorted(BOOK.glob("*.md")), BOOK / "references.bib", *OF_THE_PROJECT]
SAYING = ("lmhead", "book/_ext", "book/_static")  # folders of code whose words people read
RANGES = ("min", "max", "step", "base", "value", "_options_labels", "index", "description", "readout_format")


def stated() -> dict[str, Any]:
    """Pin file's name -> what it should hold, as the book is now."""
    found: dict[str, Any] = {path.stem: notebook(path.read_text("utf-8")) for path in NOTEBOOKS}
    for path in PAGES:
        write = as_written if path.suffix == ".yml" else pinned
        text = path.read_text("utf-8")
        found[name_of(path)] = [write(block) for block in blocks(released(text) if path == CHANGES else text)]
    return {**found, **{name: of_all() for name, of_all in OTHERS.items()}}


def name_of(path: Path) -> str:
    """What the pin file of a chapter or page is called; the bibliography and its page differ in their ending alone."""
    if path in OF_THE_PROJECT:
        return "-".join(path.relative_to(ROOT).with_suffix("").parts).removeprefix(".")
    return path.name if path.suffix == ".bib" else path.stem


def notebook(text: str) -> dict[str, Any]:
    """What one notebook states."""
    cells = read(text)
    return {
        "cells": [line for cell in cells for line in cell_lines(cell)],
        "quick checks": [rounded(question) for view in views(text) for question in view.get("questions", [])],
        "widgets": [
            {key: rounded(state[key]) for key in ("view", *RANGES) if key in state}
            for state in states(text)
            if {"min", "_options_labels"} & set(state) or state.get("view", "quiz") != "quiz"
        ],
    }


def words() -> dict[str, list[Any]]:
    """View -> the words that it shows, in each version that a notebook stores."""
    found: dict[str, list[Any]] = {}
    for view in itertools.chain(*(views(path.read_text("utf-8")) for path in NOTEBOOKS)):
        versions = found.setdefault(view["view"], [])
        if view["words"] not in versions:
            versions.append(view["words"])
    return dict(sorted(found.items()))


def checkers() -> dict[str, list[str]]:
    """Checker -> each kind of case with its hint and what it tries, and the meaning of each mistake that it knows."""
    found = {}
    for name in (name for name in check.__all__ if isinstance(getattr(check, name), FunctionType)):
        exercise = getattr(sys.modules[getattr(check, name).__module__], name.upper(), None)
        if isinstance(exercise, Exercise):
            hints = [f"{kind.name}: {kind.hint}" for kind in exercise.kinds]
            tried = [f"{k.name}: cases {digest(repr(plain([k.cases, k.max_bytes])))}" for k in exercise.kinds]
            meanings = [mistake.meaning for mistake in exercise.mistakes]
            found[name] = [*hints, *tried, f"tolerance {exercise.atol:g}", *meanings]
    return dict(sorted(found.items()))


def plain(value: Any) -> Any:
    """The arguments of a case as they look alike on every machine: numbers to six digits, functions by name."""
    if isinstance(value, np.ndarray):
        return [value.dtype.name, value.shape, rounded(value.tolist())]
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value.__name__ if callable(value) else rounded(value)


def modules() -> dict[str, list[str]]:
    """Module of the package or of the pages -> its docstring and those of its public names; what else it says."""
    found: dict[str, list[str]] = {}
    for path in sorted(
        path for folder in SAYING for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".js")
    ):
        text, lines = path.read_text("utf-8"), []
        if path.suffix == ".py":
            public = [(name, ast.get_docstring(node)) for name, node in documented(ast.parse(text))]
            lines = [f"{name} {pinned(doc)}".strip() for name, doc in public if doc]
        drawn = path.parent.name == "plots"  # there one word may be a label, or a look
        if said := [word for word in texts_in(text, path.suffix) if drawn or " " in word.strip()]:
            lines.append(f"messages and labels {digest(repr(said))}")
        if lines:
            found[path.relative_to(ROOT).as_posix()] = lines
    return found


def texts_in(code: str, suffix: str) -> list[str]:
    """The texts in code: of Python without its docstrings, of a script without its comments."""
    if suffix == ".js":
        code = re.sub(r"(?:^|\s)//[^\n]*|/\*.*?\*/", "", code, flags=re.S)
        return ["".join(one) for one in re.findall(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`', code)]
    module = ast.parse(code)
    docs = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    others = [node for node in ast.walk(module) if isinstance(node, ast.Constant) and id(node) not in docs]
    return [node.value for node in others if isinstance(node.value, str)]


def documented(node: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """A module or a class, with what it has that is public."""
    yield prefix, node
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.ClassDef) and not child.name.startswith("_"):
            name = f"{prefix}.{child.name}".lstrip(".")
            yield from documented(child, name) if isinstance(child, ast.ClassDef) else [(name, child)]


OTHERS = {"words": words, "checkers": checkers, "modules": modules}  # what belongs to no one page


# ---- the parts of a notebook and of a page


@functools.lru_cache
def read(text: str) -> list[Any]:
    """The cells of a notebook."""
    return nbformat.reads(text, as_version=4).cells


def cell_lines(cell: Any) -> list[str]:
    """A cell in its place: its tags, a digest of its prose or code; of a code cell its id, what is said beside it."""
    if cell.cell_type == "markdown":
        return [" ".join([*tags(cell), pinned(cell.source)])]
    beside = [f"{figure_name(cell)} {pinned(text)}" for text in said_beside(cell) if text]
    return [" ".join(["cell", cell.id, *tags(cell), as_written(cell.source)]), *beside]


def pinned(text: str) -> str:
    """A digest, however the lines are broken, and the first words for the reader of a diff."""
    return as_written(" ".join(text.split()))


def as_written(text: str) -> str:
    """The same of code, where an indentation has a meaning."""
    return f"{digest(text)} {' '.join(text.split())[:40]}"


def digest(text: str) -> str:
    """Twelve hexadecimal digits that change with the text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def blocks(text: str) -> list[str]:
    """The passages of a page: its paragraphs, the rows of its tables and lists, the entries of a bibliography."""
    return [block for block in re.split(r"\n\s*\n|\n(?=[|*-])", text) if block.strip()]


def released(text: str) -> str:
    """The changelog less the section that grows with every change, which is pinned when it has its version."""
    return re.sub(r"^## [^\n]*\(unreleased\)\n.*?(?=^## |\Z)", "", text, flags=re.M | re.S)


def states(text: str) -> list[dict[str, Any]]:
    """The state of every widget that a notebook stores."""
    stored = json.loads(text)["metadata"].get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {})
    return [model["state"] for model in stored.get("state", {}).values()]


def views(text: str) -> list[dict[str, Any]]:
    """The state of its views, which draw; sliders and boxes are none."""
    return [state for state in states(text) if "view" in state and "words" in state]


def rounded(value: Any) -> Any:
    """Numbers to six digits, wherever they stand."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


# ---- what changed, for the reader of the diff


def sentences(text: str) -> list[str]:
    """The sentences of a passage, lines of a list or table on their own."""
    return [s.strip() for s in re.split(r"(?<=[.?!:])\s+|\n+(?=[|*-])|\n\s*\n", text) if s.strip()]


def as_pinned(name: str) -> str:
    """The chapter or page at the commit that pinned it last, or nothing where there is none."""
    pin, path = f"tests/book/pins/{name}.json", next(p for p in (*NOTEBOOKS, *PAGES) if name_of(p) == name)
    commit = git("log", "-1", "--format=%H", "--", pin).strip() or "HEAD"
    return git("show", f"{commit}:{path.relative_to(ROOT).as_posix()}")


def git(*arguments: str) -> str:
    """What git prints; nothing where it fails."""
    run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    return run.stdout if run.returncode == 0 else ""


def changes(old: str, new: str, is_notebook: bool) -> list[str]:
    """Each changed passage: sentences old and new, beside what the cells before and after it print."""
    before, after = ([*passages(text, is_notebook)] if text else [] for text in (old, new))
    told = []
    matched = difflib.SequenceMatcher(None, [text for text, _ in before], [text for text, _ in after], autojunk=False)
    for kind, i, j, k, l in matched.get_opcodes():  # noqa: E741
        if kind != "equal":
            gone = [s for text, _ in before[i:j] for s in sentences(text)]
            come = [s for text, _ in after[k:l] for s in sentences(text)]
            left = [line for line in difflib.ndiff(gone, come) if line[0] in "-+"] or ["  moved"]
            told.append(beside(left, (after[k:l] or before[i:j])[0][1]))
    return told


def passages(text: str, is_notebook: bool) -> list[tuple[str, str]]:
    """Passages of prose with the cells that they stand between, lines of code with theirs; and what the cells print."""
    if not is_notebook:
        return [(block, "") for block in blocks(text)]
    cells, found = read(text), []
    for n, cell in enumerate(cells):
        if cell.cell_type == "markdown":
            last = next((c for c in reversed(cells[:n]) if c.cell_type == "code"), None)
            following = next((c for c in cells[n + 1 :] if c.cell_type == "code"), None)
            shown = "\n".join(printed(where, c) for where, c in (("before", last), ("after", following)) if c)
            found.append((cell.source, shown))
        else:
            found += [(line, printed("of", cell)) for line in cell.source.splitlines()]
        found += [(said, printed("of", cell)) for said in said_beside(cell) if said]
    return found


def printed(where: str, cell: Any) -> str:
    """A cell and its output, cut where they are long."""
    said = "\n".join(text.strip("\n") for text in output_texts(cell))
    lines = [f"[{where}: {cell.id}]", *cell.source.splitlines()[:12], "->", *said.splitlines()[:12]]
    return "\n".join(lines)


def beside(left: list[str], right: str, width: int = 70) -> str:
    """Two columns."""
    wrapped = [part for line in left for part in textwrap.wrap(line, width, subsequent_indent="    ")]
    pairs = itertools.zip_longest(wrapped, right.splitlines(), fillvalue="")
    return "\n".join(f"{a:{width}} | {b[:width]}".rstrip(" |") for a, b in pairs)


def main() -> int:
    """Write the pins whose name holds a word, and print what they no longer say."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    now = stated()
    if not any(word in name for name in now):
        raise SystemExit(f"no page or chapter has {word} in its name")
    PINS.mkdir(exist_ok=True)
    for stale in PINS.glob("*.json"):
        if stale.name.removesuffix(".json") not in now:
            stale.unlink()
            print(f"{stale.stem}: gone")
    for name, content in now.items():
        pin, text = PINS / f"{name}.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        old = pin.read_text("utf-8") if pin.exists() else ""
        if word not in name or text == old:
            continue
        print(f"\n== {name}\n")
        if name not in OTHERS:
            path = next(p for p in (*NOTEBOOKS, *PAGES) if name_of(p) == name)
            print(*changes(as_pinned(name), path.read_text("utf-8"), path in NOTEBOOKS), sep="\n\n")
        other = [line for line in difflib.ndiff(old.splitlines(), text.splitlines()) if line[0] in "-+"]
        if old:
            print("\nIn the pins:", *other, sep="\n")
        pin.write_text(text, "utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
