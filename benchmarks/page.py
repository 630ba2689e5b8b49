"""How light and how quick the built pages are, in an installed Chromium: run by `make bench` after the peers.

    .venv/bin/python -m benchmarks.page            print the tables
    .venv/bin/python -m benchmarks.page --write    and write them into benchmarks/README.md

For every page at two widths: the bytes of its first view (every response, gzipped), the same with the data that come
late, the layout shift, and when the first chart stood. For the view of all 49,152 logits: from a slider's input to the
layout of the changed picture, over 200 moves. And what Python on the page costs from the first click on (on Linux).
"""

from __future__ import annotations

import gzip
import os
import re
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
from playwright.sync_api import Browser, Page, Response  # noqa: E402

from tests.support.live import chromium, served  # noqa: E402
from tests.support.live_python import cell_with, press  # noqa: E402

SITE = ROOT / "_build/html"
WATCH = """
window.shift = 0;
new PerformanceObserver((seen) => {
  for (const e of seen.getEntries()) if (!e.hadRecentInput) window.shift += e.value;
}).observe({ type: "layout-shift", buffered: true });
new MutationObserver(() => {
  if (!window.drawn && document.querySelector(".widget-view")) window.drawn = performance.now();
}).observe(document, { childList: true, subtree: true });
"""
MOVE = """(sliders) => {
  const times = [];
  for (let i = 0; i < 200; i++) {
    const slider = sliders[i % sliders.length];
    const [min, max] = [Number(slider.min), Number(slider.max)];
    slider.value = min + (max - min) * ((i * 37) % 100) / 100;
    const began = performance.now();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    document.body.getBoundingClientRect();
    times.push(performance.now() - began);
  }
  return times;
}"""


def first_view(browser: Browser, address: str, width: int) -> dict[str, float]:
    """One page as a reader's first visit meets it, and then scrolled to its end."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    context.add_init_script(WATCH)
    page = context.new_page()
    sizes: list[int] = []
    page.on("response", lambda response: sizes.append(gzipped(response)))
    page.goto(address)
    page.wait_for_timeout(1200)
    found = {"first": sum(sizes) / 1024, "shift": page.evaluate("window.shift"), "drawn": page.evaluate("window.drawn")}
    scroll_to_the_end(page)
    context.close()
    return {**found, "all": sum(sizes) / 1024}


def gzipped(response: Response) -> int:
    body = response.body()
    return len(body) if response.url.endswith((".woff2", ".png")) else len(gzip.compress(body, 9))


def scroll_to_the_end(page: Page) -> None:
    height = page.evaluate("document.body.scrollHeight")
    for y in range(0, height, 700):
        page.evaluate(f"window.scrollTo(0, {y})")
        page.wait_for_timeout(30)
    page.wait_for_timeout(300)


def pages_table(browser: Browser, address: str) -> list[str]:
    rows = [
        "| page | first view, KiB | with late data | shift at 390 | at 1280 | chart drawn, ms |",
        "| --- " * 6 + "|",
    ]
    for page in sorted((SITE / "book").glob("*.html")):
        if page.stem in ("genindex", "search"):
            continue
        narrow, wide = (first_view(browser, f"{address}/book/{page.name}", width) for width in (390, 1280))
        drawn = f"{wide['drawn']:.0f}" if wide["drawn"] else ""
        sizes = f"{wide['first']:.0f} | {wide['all']:.0f}"
        rows.append(f"| {page.stem} | {sizes} | {narrow['shift']:.3f} | {wide['shift']:.3f} | {drawn} |")
    return rows


def slider_line(browser: Browser, address: str) -> str:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/book/12_a_real_head.html")
    view = page.locator("div.widget").filter(has=page.locator("[data-view=prompts]")).first
    view.scroll_into_view_if_needed()
    page.wait_for_timeout(1500)
    sliders = page.evaluate_handle("(view) => [...view.querySelectorAll('input[type=range]')]", view.element_handle())
    page.evaluate(MOVE, sliders)  # once to warm up
    times = sorted(page.evaluate(MOVE, sliders))
    middle, late = statistics.median(times), times[int(0.99 * len(times)) - 1]
    what = "All 49,152 logits, from a slider's input to the changed layout"
    return f"{what}: median {middle:.1f} ms, 99th percentile {late:.1f} ms."


def live_table(browser: Browser, address: str) -> list[str]:
    """Python on the page: what each first click costs, in a fresh profile, and then on the next chapter."""
    rows = ["| Python on the page | KiB | seconds | of the processors | the page's memory, MiB |", "| --- " * 5 + "|"]
    context = browser.new_context()
    sizes: list[int] = []
    context.on("response", lambda response: sizes.append(int(response.headers.get("content-length", 0))))
    page = context.new_page()
    page.goto(f"{address}/book/06_cross_entropy_by_hand.html")
    page.wait_for_timeout(1200)
    rows.append(f"| before the first click | 0 | | | {used(browser)[1]:.0f} |")
    steps = {
        "first output (chapter 6)": "exponentials = np.exp(z)",
        "first figure": "plots.loss_curve",
        "first widget": "widgets.loss",
    }
    rows += [live_row(browser, page, sizes, what, code) for what, code in steps.items()]
    page.goto(f"{address}/book/07_training_the_head.html")
    rows.append(live_row(browser, page, sizes, "first output of the next chapter (7)", "import numpy as np"))
    context.close()
    load = f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    return [*rows, "", f"The sizes as they are sent; {load}."]


def live_row(browser: Browser, page: Page, sizes: list[int], what: str, code: str) -> str:
    """One cell run by its button, with what comes before it."""
    cell = cell_with(page, code, first=True)
    sizes.clear()
    (cpu, _), began = used(browser), time.perf_counter()
    press(cell, "Run")
    cell.locator(".python-status", has_text="Run here").wait_for(timeout=300_000)
    seconds, (after, memory) = time.perf_counter() - began, used(browser)
    page.wait_for_timeout(300)
    return f"| {what} | {sum(sizes) / 1024:,.0f} | {seconds:.1f} | {after - cpu:.1f} | {memory:.0f} |"


def used(browser: Browser) -> tuple[float, float]:
    """Seconds of the processors, and MiB in memory, of all the browser's pages."""
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    pages = [process for process in processes if process["type"] == "renderer"]
    resident = [int(Path(f"/proc/{page['id']}/statm").read_text().split()[1]) * 4096 for page in pages]
    return sum(page["cpuTime"] for page in pages), sum(resident) / 2**20


def main() -> None:
    with chromium() as browser, served(SITE) as address:
        lines = [*pages_table(browser, address), "", slider_line(browser, address), "", *live_table(browser, address)]
    print("\n".join(lines))
    if "--write" in sys.argv:
        readme = Path(__file__).with_name("README.md")
        text = readme.read_text("utf-8")
        block = "<!-- pages -->\n\n" + "\n".join(lines) + "\n\n<!-- end of pages -->"
        readme.write_text(re.sub(r"<!-- pages -->.*?<!-- end of pages -->", lambda _: block, text, flags=re.S), "utf-8")


if __name__ == "__main__":
    main()
