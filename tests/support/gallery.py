"""Every view, each as one cell: a page of them is made and built when a test asks for it."""

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.support.building import build_book
from tools.chapters import ROOT

VIEWS = {
    "probabilities": """widgets.probabilities(
    [3.2, 2.1, 1.4, 0.3, -1.0], ["mat", "sofa", "floor", "roof", "idea"], top_p=0.9
)""",
    "prompts": "widgets.probabilities_of_prompts(load_fixture())",
    "directions": 'widgets.directions([[1.0, 0.8, -1.0], [0.2, 2.4, 0.9]], ["cat", "dog", "fish"], angle=35)',
    "loss": "widgets.loss()",
    "gradient_step": "widgets.gradient_step()",
    "overflow": "widgets.overflow()",
    "shapes": "widgets.shapes()",
    "head_cost": "widgets.head_cost(devices=4)",
    "training": "widgets.training([[0, 6, 2, 1], [3, 1, 4, 0], [5, 0, 1, 2], [1, 2, 0, 0]], '.abc', rate=4.0, step=20)",
    "quiz": """quiz.show(
    quiz.choice(
        "What is the shape of `h @ W_U` for h `[5, 512]` and 100,000 tokens?",
        {
            "`(5, 100000)`": None,
            "`(100000, 5)`": "That is the **transposed** product, of a head stored as `lm_head.weight`.",
            "`(5, 512)`": "That is h itself: the product replaces d_model by the vocabulary.",
        },
        because="A row for each position, a number for each token.",
    ),
    quiz.number(
        "A loss of `log 8` nats: how many **bits**?", 3.0, 0.01, unit="bits",
        wrong={2.0794: "These are nats: divide by log 2.", -3.0: "A minus sign was lost: a loss is never below 0."},
    ),
)""",
}

IMPORTS = "from lmhead import quiz, widgets\nfrom lmhead.smollm import load_fixture"


def figure_of(name: str) -> Any:
    """What a view's cell gives, made here."""
    namespace: dict[str, Any] = {}
    exec(IMPORTS, namespace)
    return eval(VIEWS[name], namespace)


def notebook(*cells: str) -> nbformat.NotebookNode:
    """A notebook of one title and the given code cells, executed, widget state stored."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# The page")])
    made.cells += [nbformat.v4.new_code_cell(cell) for cell in cells]
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return NotebookClient(made, timeout=120, record_timing=False, store_widget_state=True).execute()


def gallery_site(folder: Path) -> Path:
    """The HTML of a book with the real settings and extensions, whose one page shows every view."""
    (folder / "book").mkdir()
    for name in ("_ext", "_static", "_templates", "references.bib"):
        (folder / "book" / name).symlink_to(ROOT / "book" / name)
    (folder / "_config.yml").symlink_to(ROOT / "_config.yml")
    (folder / "_toc.yml").write_text("format: jb-book\nroot: book/index\nchapters:\n- file: book/page\n")
    (folder / "book/index.md").write_text("# A small book\n\nIt has one page: {doc}`page`.\n")
    nbformat.write(notebook(IMPORTS, *VIEWS.values()), folder / "book/page.ipynb")
    built = build_book(folder, folder / "out")
    assert built.returncode == 0, built.stderr[-2000:]
    return folder / "out/_build/html"
