"""A small book of one page that shows every view, made and built when a test asks for it."""

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]

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


def notebook(*cells: str) -> nbformat.NotebookNode:
    """A notebook of one title and the given code cells, executed, widget state stored."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A page")])
    made.cells += [nbformat.v4.new_code_cell(cell) for cell in cells]
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return NotebookClient(made, timeout=120, record_timing=False, store_widget_state=True).execute()


def lay_out_book(folder: Path, page: nbformat.NotebookNode) -> None:
    """A book with the settings and extensions of the real one: an index, `page.ipynb`, and a page without widgets."""
    source = folder / "book"
    source.mkdir(parents=True)
    shutil.copy(ROOT / "_config.yml", folder)
    for name in ("_ext", "_static", "_templates"):
        (source / name).symlink_to(ROOT / "book" / name)
    shutil.copy(ROOT / "book" / "references.bib", source)
    (source / "index.md").write_text("# A book\n", encoding="utf-8")
    (source / "plain.md").write_text("# No widgets here\n", encoding="utf-8")
    nbformat.write(page, source / "page.ipynb")
    chapters = "chapters: [{file: book/page}, {file: book/plain}]\n"
    (folder / "_toc.yml").write_text(f"format: jb-book\nroot: book/index\n{chapters}", encoding="utf-8")


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """`jupyter-book build`, warnings as errors."""
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", "-W", "-n", "--keep-going", "-q"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)
