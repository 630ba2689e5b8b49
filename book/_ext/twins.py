"""Twins, the same cell in other frameworks in tabs: a name for each set of tabs, and the versions that they ran with.

The versions stand in `beyond/twins/requirements.txt` alone. A page with twins names them once, under its first set.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from packaging.requirements import Requirement
from sphinx.application import Sphinx

REQUIREMENTS = Path(__file__).parents[2] / "beyond/twins/requirements.txt"
FRAMEWORKS = {
    "torch": "PyTorch",
    "transformers": "transformers",
    "jax": "JAX",
    "optax": "optax",
    "flax": "Flax",
    "mlx": "MLX",
}
A_SET = 'class="sd-tab-set twins docutils"'


def said_versions() -> str:
    """The frameworks with their versions, as a page names them."""
    lines = (line.partition("#")[0].strip() for line in REQUIREMENTS.read_text("utf-8").splitlines())
    pins = [Requirement(line) for line in lines if line and not line.startswith("-e")]
    return ", ".join(f"{FRAMEWORKS[pin.name]} {str(pin.specifier)[2:]}" for pin in pins if pin.name in FRAMEWORKS)


def name_the_versions(app: Sphinx, doctree: nodes.document) -> None:
    """A line under the first set of tabs."""
    first = next((one for one in doctree.findall(nodes.container) if "twins" in one["classes"]), None)
    if first is not None:
        app.env.note_dependency(str(REQUIREMENTS))
        line = f"All such tabs on this page ran after the cells above them, on a CPU, with {said_versions()}."
        first.parent.insert(first.parent.index(first) + 1, nodes.paragraph("", line, classes=["twins-versions"]))


def name_the_sets(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Tell a screen reader what the radio buttons of a set choose."""
    context["body"] = context.get("body", "").replace(A_SET, f'{A_SET} role="group" aria-label="In your framework"')


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the two."""
    app.connect("doctree-read", name_the_versions)
    app.connect("html-page-context", name_the_sets)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
