"""Run twins, and store what they print; `make twins` compares it with the pages (test_twins.py).

    .venv-twins/bin/python -m beyond.twins.run          every chapter
    .venv-twins/bin/python -m beyond.twins.run 06 07    two of them

Each twin starts afresh: those cells of its chapter that it uses, then itself. What was run, and by what, is kept in
`checked.json`.
"""

import contextlib
import io
import json
import sys
import warnings
from importlib.metadata import version

import nbformat

from tools.chapters import BOOK, CHAPTERS
from tools.twins import CHECKED, Twin, digests, twins, versions


def printed(twin: Twin) -> str:
    """What a twin prints."""
    names: dict[str, object] = {}
    out = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        with contextlib.redirect_stdout(io.StringIO()):
            for source in twin.uses:
                exec(compile(source, "<cell>", "exec"), names)
        with contextlib.redirect_stdout(out):
            exec(compile(twin.code, "<twin>", "exec"), names)
    return out.getvalue()


def installed() -> dict[str, str]:
    """The versions of what is pinned. A build's own mark, as in 2.13.0+cpu, does not count."""
    return {name: version(name).partition("+")[0] for name in versions()}


def store(chapter: str) -> None:
    """Put what each twin prints into the notebook, in the form that `tools.refresh` gives it."""
    path = BOOK / f"{chapter}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for twin in twins(chapter):
        (cell,) = (cell for cell in notebook.cells if cell.id == twin.cell)
        old, new = (f"```python\n{twin.code}```\n\n```text\n{said}```" for said in (twin.said, printed(twin)))
        cell.source = cell.source.replace(old, new)
    path.write_text(nbformat.writes(notebook).rstrip("\n") + "\n", "utf-8", newline="\n")


def write_down(chapters: list[str]) -> None:
    """What was run, and by what; of other chapters what was written before."""
    numbers = {chapter[:2] for chapter in chapters}
    before = json.loads(CHECKED.read_text("utf-8"))["twins"]
    others = {name: digest for name, digest in before.items() if name[:2] not in numbers}
    now = {name: digest for name, digest in digests().items() if name[:2] in numbers}
    record = {"versions": installed(), "twins": dict(sorted((others | now).items()))}
    CHECKED.write_text(json.dumps(record, indent=1) + "\n", "utf-8", newline="\n")


if __name__ == "__main__":
    chosen = [chapter for chapter in CHAPTERS if chapter[:2] in sys.argv[1:]] or CHAPTERS
    for one in chosen:
        store(one)
    write_down(chosen)
