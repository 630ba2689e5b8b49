"""The same cells in JupyterLab: run all, move a slider, see the numbers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.gallery import IMPORTS, VIEWS
from tests.support.live import closed_network
from tests.support.views import MODULES, WANTED

CELLS = {name: VIEWS[name] for name in ("probabilities", "gradient_step", "quiz")}
PATIENCE = 60_000  # ms for JupyterLab to start a kernel on a busy machine


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """JupyterLab on a free port, with settings of its own, over a folder with one notebook that has not run."""
    folder = tmp_path_factory.mktemp("lab")
    cells = [nbformat.v4.new_code_cell(source) for source in (IMPORTS, *CELLS.values())]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    page = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(page, folder / "page.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {f"JUPYTER_{kind}_DIR": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    options = ["--no-browser", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    options += ["--IdentityProvider.token=", "--LabApp.news_url=", "--LabApp.extension_manager=readonly"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    command = [sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={folder}"]
    with (folder / "lab.log").open("w") as log:
        server = subprocess.Popen(command, env=os.environ | own, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address, server, folder / "lab.log")
        yield f"{address}/lab/tree/page.ipynb"
    finally:
        server.kill()  # asked to end, it may wait for its kernel for ever
        server.wait()


def wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(120):
        if server.poll() is not None:
            break
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=5).close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.5)
    pytest.fail("JupyterLab did not start:\n" + log.read_text("utf-8")[-2000:])


@pytest.fixture(scope="module")
def notebook(browser: Browser, lab: str) -> Iterator[Page]:
    """The notebook in JupyterLab, all cells run."""
    troubles: list[str] = []
    with closed_network(browser, troubles) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(lab)
        page.get_by_text("(ipykernel) | Idle").wait_for()  # what runs before is dropped
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        page.locator(f".lmhead[data-view={list(CELLS)[-1]}]").wait_for()
        yield page
    assert [trouble for trouble in troubles if "asked for" in trouble] == []


def rows_of(page: Page, view: str) -> list[list[str]]:
    """What a view's table shows, row by row."""
    script = "(all) => all.map((row) => [...row.children].map((cell) => cell.textContent))"
    return page.locator(f".lmhead[data-view={view}] tbody tr").evaluate_all(script)


def test_a_slider_moves_the_numbers(notebook: Page) -> None:
    output = notebook.locator(".jp-OutputArea-output:has(.lmhead[data-view=probabilities])")
    row = output.locator(".widget-slider", has_text="temperature")
    before = rows_of(notebook, "probabilities")
    row.locator(".noUi-handle").focus()
    for _ in range(6):
        notebook.keyboard.press("ArrowRight")
    expect(row.locator(".widget-readout")).to_have_text("1.30")
    after = rows_of(notebook, "probabilities")

    state = {"labels": ["mat", "sofa", "floor", "roof", "idea"], "logits": [3.2, 2.1, 1.4, 0.3, -1.0]}
    state |= {"temperature": 1.3, "top_k": 5, "top_p": 0.9}
    assert before != after == WANTED["probabilities"](state)["said"][0]["rows"]


def test_a_button_in_a_view_steps(notebook: Page) -> None:
    view = notebook.locator(".lmhead[data-view=gradient_step]")
    state = {"labels": ["cat", "dog", "fish"], "logits": [2.0, 1.0, 0.1], "target": 2, "learning_rate": 1.0, "steps": 3}
    for _ in range(3):
        state["logits"] = MODULES["gradient_step"].numbers(state)["next_logits"]
        view.get_by_role("button", name="Step").click()
    table, terms = WANTED["gradient_step"](state)["said"]
    assert rows_of(notebook, "gradient_step") == table["rows"]
    assert view.locator("dd").all_inner_texts() == [text for _, text in terms["terms"]]


def test_a_quick_check_answers(notebook: Page) -> None:
    form = notebook.locator(".lmhead-quiz form").nth(1)
    form.get_by_role("textbox").fill("2.0794")
    form.get_by_role("button").click()
    assert "These are nats" in form.locator("[aria-live]").inner_text()


def test_every_view_has_its_style(notebook: Page) -> None:
    style = "(element, name) => getComputedStyle(element)[name]"
    for name in ("probabilities", "gradient_step"):
        bar = notebook.locator(f".lmhead[data-view={name}] .lmhead-bar > div").first
        assert bar.evaluate(style, "position") == "relative"
    assert notebook.locator(".lmhead-quiz fieldset").first.evaluate(style, "borderRadius") == "6px"
