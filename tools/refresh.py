"""Execute notebooks and write them in canonical form: the same sources give the same bytes.

python -m tools.refresh               every notebook of the book
python -m tools.refresh book/06*.ipynb
python -m tools.refresh --check       write nothing; fail if a file would change
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from tools.alone import with_first_cell

BOOK = Path(__file__).parents[1] / "book"
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
VOLATILE_METADATA = ("collapsed", "ExecuteTime", "execution", "jp-MarkdownHeadingCollapsed", "scrolled")


def refreshed(path: Path, extension: str | None = None, env: dict[str, str] | None = None) -> str:
    """The notebook at `path`, run from a clean kernel, as the text that its file should hold.

    An IPython extension may listen in that kernel, and `env` is its environment, if not this one's.
    """
    notebook = to_be_run(path)
    where = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False, resources=where)
    if extension:
        client.extra_arguments = [f"--ext={extension}"]
    client.execute(env=env or dict(os.environ))
    return canonical(notebook)


def to_be_run(path: Path) -> NotebookNode:
    """The notebook at `path`, with the cell that no page shows and without the state of widgets."""
    notebook = with_first_cell(nbformat.read(path, as_version=4))
    notebook.metadata.pop("widgets", None)
    return notebook


def canonical(notebook: NotebookNode) -> str:
    """The text of an executed notebook without whatever differs from run to run or from machine to machine."""
    notebook.nbformat_minor = 5
    widgets = notebook.metadata.get("widgets", {})
    notebook.metadata = NotebookNode(
        kernelspec={"display_name": "Python 3", "language": "python", "name": "python3"},
        language_info={"name": "python"},
    )
    code_cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in notebook.cells:
        for key in VOLATILE_METADATA:
            cell.metadata.pop(key, None)
    for count, cell in enumerate(code_cells):  # the cell that no page shows is the 0th
        cell.execution_count = count  # never null: nbval passes a cell without a count unseen
        cell.outputs = canonical_outputs(cell.outputs, count)
    state = widgets.get(WIDGET_STATE, {}).get("state")
    if state:
        views = [o.data[WIDGET_VIEW] for cell in code_cells for o in cell.outputs if WIDGET_VIEW in o.get("data", {})]
        widgets[WIDGET_STATE]["state"] = canonical_widgets(state, views)
        notebook.metadata["widgets"] = widgets
    nbformat.validate(notebook)
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def canonical_outputs(outputs: list[NotebookNode], count: int) -> list[NotebookNode]:
    """Outputs with their cell's count, one entry for neighbouring writes of a stream, and one-line tracebacks."""
    kept: list[NotebookNode] = []
    for output in outputs:
        if "execution_count" in output:
            output.execution_count = count
        if output.output_type == "error":
            output.traceback = [f"{output.ename}: {output.evalue}"]  # the frames carry this machine's paths
        stream = output.get("name")
        if stream and kept and kept[-1].get("name") == stream:
            kept[-1].text += output.text  # where a stream is cut is a race
        else:
            kept.append(output)
    return kept


def canonical_widgets(state: dict[str, NotebookNode], views: list[NotebookNode]) -> dict[str, object]:
    """Widget models numbered in the order in which the shown cells reach them; models that no cell shows are dropped.

    `views` are the shown ones and get the new numbers too.
    """
    text = {model: json.dumps(spec, sort_keys=True) for model, spec in state.items()}
    reached: dict[str, str] = {}

    def reach(model: str) -> None:
        if model in text and model not in reached:
            reached[model] = f"{len(reached) + 1:032x}"
            for child in re.findall(r"IPY_MODEL_([0-9a-f]{32})", text[model]):
                reach(child)

    for view in views:
        reach(view["model_id"])

    def ends(link: str) -> list[tuple[str, str]]:
        spec = state[link]["state"]
        return [
            (reached.get(model.removeprefix("IPY_MODEL_"), ""), trait)
            for model, trait in (spec["source"], spec["target"])
        ]

    links = [model for model, spec in state.items() if spec["model_name"] in ("LinkModel", "DirectionalLinkModel")]
    for link in sorted(links, key=ends):
        if all(model for model, _ in ends(link)):
            reach(link)

    def renumbered(s: str) -> str:
        return re.sub(r"[0-9a-f]{32}", lambda m: reached.get(m[0], m[0]), s)

    for view in views:
        view["model_id"] = reached[view["model_id"]]
    return {new: json.loads(renumbered(text[old])) for old, new in reached.items()}


def differences(stored: str, fresh: str) -> list[str]:
    """The first changed lines, cut where they are long, as those of widgets' scripts are."""
    diff = difflib.unified_diff(stored.splitlines(), fresh.splitlines(), "stored", "fresh", lineterm="", n=1)
    return [line[:300] for line in diff][:40]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(BOOK.glob("*.ipynb")))
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file would change")
    args = parser.parse_args()
    changed = 0
    for path in args.notebooks:
        old, new = path.read_text("utf-8"), refreshed(path.resolve())
        print(f"{path.name}: {'unchanged' if old == new else 'CHANGED'}")
        if old == new:
            continue
        changed += 1
        if args.check:
            print("\n".join(differences(old, new)))
        else:
            path.write_text(new, "utf-8", newline="\n")
    return int(args.check and changed > 0)


if __name__ == "__main__":
    sys.exit(main())
