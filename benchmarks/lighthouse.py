"""How Lighthouse judges the built pages on a phone, served compressed: five runs per page, the median.

    .venv/bin/python -m benchmarks.lighthouse              print the table
    .venv/bin/python -m benchmarks.lighthouse --write      and write it into benchmarks/README.md
    .venv/bin/python -m benchmarks.lighthouse index 06     the pages whose names begin so

It takes about a minute per page, needs Node's `npx`, which fetches Lighthouse, and a machine that does nothing else:
its load is told below the table, and in it its power, as Lighthouse finds it at each run (`benchmarkIndex`).
"""

from __future__ import annotations

import gzip
import http.server
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
from tools.browser import NO_PAGES_OF_ITS_OWN, find_browser  # noqa: E402

SITE = ROOT / "_build/html"
LIGHTHOUSE = "lighthouse@12.8.2"
RUNS = 5
CATEGORIES = {
    "performance": "performance",
    "accessibility": "accessibility",
    "best-practices": "practices",
    "seo": "SEO",
}
MEASURES = {"first-contentful-paint": "first paint", "largest-contentful-paint": "largest paint"}
MEASURES |= {"total-blocking-time": "blocked", "cumulative-layout-shift": "shift"}
LEAST = {"index": 97}  # of performance; a chapter 96, all else 100
COMPRESSED = {".html", ".css", ".js", ".svg", ".json"}


class Compressed(http.server.SimpleHTTPRequestHandler):
    """A file server as those on the web are: it compresses text, and keeps its connections."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        file = Path(self.translate_path(self.path))
        if file.suffix not in COMPRESSED or not file.is_file():
            return super().do_GET()
        body = compressed(file)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(file)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@cache
def compressed(file: Path) -> bytes:
    return gzip.compress(file.read_bytes(), 6)


@contextmanager
def served_compressed(folder: Path) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Compressed, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def run(address: str) -> dict[str, Any]:
    """One report. Lighthouse's own settings are those of a slow phone."""
    chrome = f"--chrome-flags=--headless --no-sandbox --disable-gpu --disable-quic {NO_PAGES_OF_ITS_OWN}"
    command = ["npx", "--yes", LIGHTHOUSE, address, "--output=json", "--quiet", chrome]
    command.append("--only-categories=" + ",".join(CATEGORIES))
    environment = {**os.environ, "CHROME_PATH": find_browser() or ""}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"Lighthouse failed at {address}: {ended.stderr[-500:]}")
    return json.loads(ended.stdout)


def judged(address: str) -> tuple[dict[str, float], list[str]]:
    """The medians of several runs, and what was found wrong beside speed."""
    reports = [run(address) for _ in range(RUNS)]
    found = {
        name: 100 * statistics.median(report["categories"][category]["score"] for report in reports)
        for category, name in CATEGORIES.items()
    }
    for audit, name in MEASURES.items():
        found[name] = statistics.median(report["audits"][audit]["numericValue"] for report in reports)
    found["power"] = statistics.median(report["environment"]["benchmarkIndex"] for report in reports)
    wrong = [
        reports[0]["audits"][one["id"]]["title"]
        for category in list(CATEGORIES)[1:]
        for one in reports[0]["categories"][category]["auditRefs"]
        if one["weight"] and reports[0]["audits"][one["id"]]["score"] not in (None, 1)
    ]
    return found, wrong


def row(name: str, found: dict[str, float]) -> str:
    scores = " | ".join(f"{found[one]:.0f}" for one in CATEGORIES.values())
    first, largest, blocked, shift = (found[one] for one in MEASURES.values())
    times = f"{first / 1000:.1f} s | {largest / 1000:.1f} s | {blocked:.0f} ms | {shift:.3f}"
    return f"| {name} | {scores} | {times} | {found['power']:.0f} |"


def too_low(name: str, found: dict[str, float]) -> list[str]:
    least = {**dict.fromkeys(CATEGORIES.values(), 100), "performance": LEAST.get(name, 96)}
    return [f"{name}: {one} {found[one]:.0f}, not {least[one]}" for one in least if round(found[one]) < least[one]]


def main() -> int:
    """Print the table; 1 if a page falls short."""
    if not shutil.which("npx") or not find_browser():
        print("Lighthouse needs Node's npx and an installed Chromium.")
        return 1
    wanted = [one for one in sys.argv[1:] if not one.startswith("--")]
    files = [file for file in sorted((SITE / "book").glob("*.html")) if "<!-- Cut from" in file.read_text("utf-8")]
    files = [file for file in files if not wanted or file.name.startswith(tuple(wanted))]
    head = ["page", *CATEGORIES.values(), *MEASURES.values(), "power"]
    lines, short = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"], []
    before = os.getloadavg()[0]
    with served_compressed(SITE) as address:
        for file in files:
            found, wrong = judged(f"{address}/book/{file.name}")
            lines.append(row(file.stem, found))
            short += too_low(file.stem, found) + [f"{file.stem}: {one}" for one in wrong]
            print(lines[-1], *wrong, sep="\n  ", flush=True)
    after = os.getloadavg()[0]
    lines.append(f"\nThe load of the machine was {before:.1f} before the first run and {after:.1f} after the last.")
    print("", *lines, "", *short, sep="\n")
    if "--write" in sys.argv:
        readme = Path(__file__).with_name("README.md")
        block = "<!-- lighthouse -->\n\n" + "\n".join(lines) + "\n\n<!-- end of lighthouse -->"
        text = re.sub(
            r"<!-- lighthouse -->.*?<!-- end of lighthouse -->", lambda _: block, readme.read_text("utf-8"), flags=re.S
        )
        readme.write_text(text, "utf-8")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
