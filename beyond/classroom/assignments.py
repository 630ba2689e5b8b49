"""The book's exercises as nbgrader assignments, one for each chapter: `make assignments`.

A code cell tagged `exercise`, with the question before it and the solution after it, becomes three cells: the question
with its hints folded, an answer cell, out of which nbgrader cuts the solution again, and a locked cell that grades.
Nothing else of the chapter comes along: an autograder runs every cell.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import re
import secrets
import symtable
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from beyond.classroom.hidden import source_of
from lmhead import check
from lmhead.check.grading import exercise_of
from tools.chapters import CHAPTERS, cells, code_cells, tags

POINTS = {"Easy": 2, "Easier": 2, "Harder": 3}
DOUBT = "The checker passes it; the teacher's own cases:"
TEST = """\
from lmhead.check.grading import grade

### BEGIN HIDDEN TESTS
{share}
most = {points} * share({function})
del share
### END HIDDEN TESTS
earned = grade(check.{name}, {function}, points={points}{may_call})
### BEGIN HIDDEN TESTS
if most == 0 or (earned == {points} and most < earned):
    print("{doubt}", most, "of {points} points")
earned = earned if type(earned) is float and earned < most else most
### END HIDDEN TESTS
earned"""


def assignment(chapter: str, seed: int) -> nbformat.NotebookNode:
    """The exercises of a chapter with their solutions, as nbgrader's source version."""
    title = next(cell.source for cell in cells(chapter) if cell.source.startswith("# ")).splitlines()[0]
    imports = imports_of(chapter)
    used, exercises = {"np"}, []
    for question, stub, solution in exercises_of(chapter):
        name, function = checked(stub)
        answer = definition(solution)
        for unknown in globals_of(answer) - imports.keys():
            raise ValueError(f"{chapter}: the solution of check.{name} uses {unknown}, which no cell imports")
        used |= globals_of(answer)
        points = next(p for word, p in POINTS.items() if re.search(rf"\*\*{word}\b", question))
        may_call = sorted(n for n in globals_of(answer) if imports[n].startswith("from lmhead "))
        test = TEST.format(
            share=source_of(name, exercise_of(getattr(check, name)), seed),
            name=name,
            function=function,
            points=points,
            doubt=DOUBT,
            may_call=f", may_call={may_call}" if may_call else "",
        )
        given = definition(stub)
        if "..." not in given:  # what is to be mended is shown above the answer
            question += f"\n\n```python\n{given}\n```"
        exercises += [
            marked(new_markdown_cell(plain(question)), f"question-{name}"),
            marked(new_code_cell(with_region(answer)), f"answer-{name}", solution=True),
            marked(new_code_cell(test), f"test-{name}", points=points),
        ]
    setup = "\n".join([*sorted({imports[name] for name in used}, reverse=True), "from lmhead import check"])
    head = [marked(new_markdown_cell(f"{title}: exercises"), "title"), marked(new_code_cell(setup), "setup")]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=head + exercises, metadata={"kernelspec": kernel})


def exercises_of(chapter: str) -> Iterator[tuple[str, str, str]]:
    """The question, the stub and the solution of each exercise, as the chapter has them."""
    for before, cell, after in zip(cells(chapter), cells(chapter)[1:], cells(chapter)[2:], strict=False):
        if "exercise" in tags(cell):
            if before.cell_type != "markdown" or "solution" not in tags(after):
                raise ValueError(f"{chapter}: an exercise without its question before it or its solution after it")
            yield before.source, cell.source, after.source


def checked(source: str) -> tuple[str, str]:
    """The checker that a stub ends in, and the function that it is given: `check.softmax(my_softmax)`."""
    calls = re.findall(r"^check\.(\w+)\((\w+)\)", source, flags=re.M)
    if len(calls) != 1:
        raise ValueError(f"an exercise has one check.NAME(FUNCTION); got {calls} in {source!r}")
    return calls[0]


def definition(source: str) -> str:
    """The functions that a cell defines, without what it imports, checks and prints."""
    defined = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    lines = source.splitlines()
    return "\n\n".join("\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in defined)


def globals_of(source: str) -> set[str]:
    """The names that functions take from elsewhere."""
    own = symtable.symtable(source, "", "exec")

    def names(table: symtable.SymbolTable) -> Iterator[str]:
        yield from (s.get_name() for s in table.get_symbols() if s.is_global() and s.is_referenced())
        for child in table.get_children():
            yield from names(child)

    return set(names(own)) - set(own.get_identifiers()) - set(dir(builtins))


def imports_of(chapter: str) -> dict[str, str]:
    """The names that a chapter's cells import, each with the line that imports it alone."""
    lines = {}
    for cell in code_cells(chapter):
        for node in ast.walk(ast.parse(re.sub(r"^[%!].*", "", cell.source, flags=re.M))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name in node.names:
                    alone: Any = ast.Import([name])
                    if isinstance(node, ast.ImportFrom):
                        alone = ast.ImportFrom(node.module, [name], node.level)
                    lines[name.asname or name.name] = ast.unparse(alone)
    return lines


def with_region(answer: str) -> str:
    """A function whose body stands between nbgrader's marks; nested ones and all."""
    signature, body = answer.split("\n", 1)
    return f"{signature}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"


def plain(text: str) -> str:
    """The book's MyST as Markdown and HTML that Lab shows."""
    text = re.sub(r"^## .*\n+", "", text)
    text = re.sub(
        r":::\{dropdown\} (.*)\n((?:.*\n)*?):::",
        r"<details><summary>\1</summary>\n\n\2\n</details>",
        text + "\n",
    )
    text = re.sub(r"\{doc\}`0?(\d+)_\w+`", r"chapter \1", text)
    text = re.sub(r"\{(?:doc|ref|numref|term)\}`(?:([^`<]*?) ?<)?([^`>]*)>?`", lambda m: f"*{m[1] or m[2]}*", text)
    if left := re.search(r":::|\{\w+\}`", text):
        raise ValueError(f"Lab does not know this MyST: {text[left.start() : left.start() + 40]!r}")
    return text.rstrip()


def marked(cell: Any, grade_id: str, *, points: int | None = None, solution: bool = False) -> Any:
    """A cell with nbgrader's metadata: locked unless it is an answer."""
    cell.id = re.sub(r"\W", "-", grade_id)
    cell.metadata.nbgrader = {
        "schema_version": 3,
        "grade_id": grade_id,
        "grade": points is not None,
        "solution": solution,
        "locked": not solution,
        "task": False,
        **({} if points is None else {"points": points}),
    }
    return cell


def seed_of(course: Path) -> int:
    """The teacher's seed, from which the hidden cases are drawn; it is kept in the course's folder."""
    path = course / "seed.txt"
    if not path.exists():
        course.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(f"{secrets.randbits(63)}\n", encoding="utf-8")
    return int(path.read_text(encoding="utf-8"))


def write_assignments(course: Path, numbers: list[str]) -> list[str]:
    """Write the assignments of these chapters, or of all that have exercises; returns their names."""
    names = []
    for chapter in CHAPTERS:
        if (numbers and chapter[:2] not in numbers) or not any(exercises_of(chapter)):
            continue
        name = f"ch{chapter[:2]}"
        folder = course / "source" / name
        folder.mkdir(parents=True, exist_ok=True)
        nbformat.write(assignment(chapter, seed_of(course)), folder / f"{name}.ipynb")
        names.append(name)
    if unknown := set(numbers) - {name[2:] for name in names}:
        raise SystemExit(f"no chapter with exercises: {', '.join(sorted(unknown))}")
    return names


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("course", type=Path, help="the course's folder; keep it to yourself")
    parser.add_argument("chapters", nargs="*", help="such as 06; all if none is given")
    options = parser.parse_args()
    for name in write_assignments(options.course, options.chapters):
        print(options.course / "source" / name)
