"""Measure lmhead beside its peers, and put the tables into README.md: `python benchmarks/run.py --write`.

Everything is measured in processes of their own, so that the number of threads is set before NumPy starts and one
library's memory is not another's.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import itertools
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import threadpoolctl

HERE = Path(__file__).parent
README = HERE / "README.md"
Rows = list[dict[str, Any]]

TARGETS = {  # (kind, what is measured, what it is measured against) -> (when, the highest ratio)
    "forward": [
        ("product", "d 576", lambda n, d, v: d == 576, 1.20),
        ("product", "d 2048", lambda n, d, v: d == 2048, 1.10),
        ("torch cross_entropy(linear)", "all", lambda n, d, v: True, 0.85),
        ("scipy", "d 576", lambda n, d, v: d == 576, 0.33),
        ("scipy", "d 2048", lambda n, d, v: d == 2048, 0.50),
    ],
    "forward and backward": [
        ("three products", "N <= d", lambda n, d, v: n <= d, 1.15),
        ("three products", "N > d", lambda n, d, v: n > d, 1.30),
        ("torch cross_entropy(linear)", "N <= d", lambda n, d, v: n <= d, 0.85),
    ],
}
OURS = {"forward": ["lmhead streaming"], "forward and backward": ["lmhead streaming, dE at hand", "lmhead streaming"]}
MEMORY = [  # kind, sizes, contenders
    ("forward", (1024, 576, 128_256), ["lmhead streaming", "scipy", "torch cross_entropy(linear)"]),
    ("forward", (1024, 576, 32_064), ["lmhead streaming"]),
    (
        "forward and backward",
        (1024, 576, 49_152),
        [
            "lmhead streaming",
            "lmhead streaming, recompute=True",
            "torch cross_entropy(linear)",
            "torch linear_cross_entropy, 256 rows",
        ],
    ),
]
MEMORY_TARGET = {"forward": 0.02, "forward and backward": 0.10}


# --- measuring ---


def measure(script: str, *arguments: Any, threads: int = 2) -> Any:
    """What a script of this folder prints, run in a process of its own."""
    variables = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    done = subprocess.run(command, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


# --- writing ---


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def sizes(shape: list[int]) -> str:
    return ", ".join(f"{size:,}" if size > 9999 else str(size) for size in shape)


def spread(values: list[float]) -> str:
    """The median, and in brackets the lowest and the highest."""
    if len(values) == 1:
        return f"{values[0]:.2f} (once)"
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def speed_tables(results: Rows) -> str:
    parts = []
    for kind in OURS:
        mine = [r for r in results if r["kind"] == kind]
        names = list(dict.fromkeys(name for r in mine for name in r["ratios"]))
        rows = [
            [str(r["threads"]), sizes(r["shape"]), f"{r['seconds']:.2f} s"]
            + [spread(r["ratios"][name]) if name in r["ratios"] else "-" for name in names]
            for r in mine
        ]
        parts.append(f"**{kind.capitalize()}**, in units of the {mine[0]['unit']}:\n")
        parts.append(table(["threads", "N, d, V", mine[0]["unit"], *names], rows) + "\n")
    return "\n".join(parts)


def against(result: dict[str, Any], ours: str, unit: str) -> float:
    """Ours in units of another contender, both having been measured in units of the product."""
    ratio = statistics.median(result["ratios"][ours])
    return ratio if unit == result["unit"] else ratio / statistics.median(result["ratios"][unit])


def target_table(results: Rows) -> str:
    rows = []
    for kind, targets in TARGETS.items():
        for ours, (unit, when, applies, limit), threads in itertools.product(OURS[kind], targets, (1, 2)):
            found = [
                (against(r, ours, unit), r["shape"])
                for r in results
                if r["kind"] == kind and r["threads"] == threads and applies(*r["shape"])
            ]
            if found:
                ratio, shape = max(found)
                met = "yes" if ratio <= limit else "**no**"
                against_what = f"{unit}, {when}"
                rows.append([kind, ours, against_what, str(threads), f"{limit:.2f}", f"{ratio:.2f}", sizes(shape), met])
    head = ["", "", "against", "threads", "at most", "worst measured", "at N, d, V", "met"]
    return table(head, rows) + "\n"


def memory_table(results: Rows) -> str:
    rows = []
    for r in results:
        logits = 4 * r["shape"][0] * r["shape"][2]
        share = r["peak"] / logits
        goal = ""
        if r["name"].startswith("lmhead") and r["shape"][2] >= 49_152:  # the small one shows that it does not grow
            goal = "yes" if share <= MEMORY_TARGET[r["kind"]] else "**no**"
        peak = f"{r['peak'] / 2**20:.1f} MiB"
        rows.append([r["kind"], sizes(r["shape"]), r["name"], peak, f"{logits / 2**20:.0f} MiB", f"{share:.1%}", goal])
    head = ["", "N, d, V", "", "peak beyond the inputs and gradients", "the logits", "share", "target met"]
    return table(head, rows) + "\n"


def slope(points: Rows) -> float:
    """The power of the size that the time grows with."""
    x, y = (np.log([p[key] for p in points]) for key in ("size", "seconds"))
    return float(np.polyfit(x, y, 1)[0])


def growth_table(points: Rows, memory: Rows) -> str:
    rows = []
    for kind, sweep, group in sweeps(points):
        span = f"{group[0]['size']:,} to {group[-1]['size']:,}"
        times = ", ".join(f"{p['seconds']:.3f}" for p in group)
        rows.append([kind, sweep, span, times, f"{slope(group):.2f}"])
    text = table(["", "what grows", "from, to (doubling)", "seconds", "power of the size"], rows)
    flat = table(
        ["V", "peak of the loss beyond the inputs"],
        [[f"{m['shape'][2]:,}", f"{m['peak'] / 2**20:.1f} MiB"] for m in memory],
    )
    return f"{text}\n\n{flat}\n\n![Time against N, d and V, and memory against V](growth.svg)\n"


def sweeps(points: Rows) -> Iterator[tuple[str, str, Rows]]:
    for kind in OURS:
        for sweep in "NdV":
            yield kind, sweep, [p for p in points if p["kind"] == kind and p["sweep"] == sweep]


def growth_plot(points: Rows, memory: Rows) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "lmhead"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(13, 3.2), layout="constrained")
    for kind, sweep, group in sweeps(points):
        ax = axes["NdV".index(sweep)]
        x, y = [p["size"] for p in group], [p["seconds"] for p in group]
        ax.loglog(x, y, "o-", base=2, label=f"{kind} (power {slope(group):.2f})")
        ax.set(xlabel={"N": "N, positions", "d": "d_model", "V": "vocabulary"}[sweep], ylabel="seconds")
        ax.legend(fontsize=7)
    x = [m["shape"][2] for m in memory]
    axes[3].loglog(x, [m["peak"] / 2**20 for m in memory], "o-", base=2, label="streaming loss")
    axes[3].loglog(x, [4 * m["shape"][0] * m["shape"][2] / 2**20 for m in memory], "--", base=2, label="the logits")
    axes[3].set(xlabel="vocabulary", ylabel="MiB")
    axes[3].legend(fontsize=7)
    figure.savefig(HERE / "growth.svg", metadata={"Date": None})


def accuracy_tables(tables: dict[str, Rows]) -> str:
    def block(title: str, rows: Rows, key: str, style: str, extra: str | None = None) -> str:
        names = list(rows[0][key])
        head = ["", *([extra] if extra else []), *names]
        body = [
            [r["case"], *([f"{r[extra]:.1e}"] if extra else []), *(format(r[key][n], style) for n in names)]
            for r in rows
        ]
        return f"**{title}**\n\n{table(head, body)}\n"

    near = tables["loss_near_one"]
    return "\n".join(
        [
            block("Relative error of the loss as the target's probability nears 1", near, "loss", ".0e", "true loss"),
            block("Relative error of the gradient's entry of the target", near, "gradient", ".0e"),
            block("softmax, the worst entry in units of the last place", tables["softmax_ulps"], "ulp", ".1f"),
            block("log_softmax along axis 0, the largest error", tables["long_sums"], "error", ".0e"),
            block("The mean loss from h and W_U, float32, relative error", tables["end_to_end"], "error", ".0e"),
        ]
    )


def edges_table(rows: Rows) -> str:
    names = list(rows[0]["outcome"])
    return table(["", *names], [[r["case"], *(r["outcome"][n] for n in names)] for r in rows]) + "\n"


def facts() -> str:
    """The machine and the versions."""
    from contenders import make_problem, product

    product(make_problem(8, 8, 8))()
    blas = next(pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas")
    versions = (f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "scipy", "torch", "jax", "mpmath"))
    lines = [
        f"{datetime.date.today().isoformat()}, Python {platform.python_version()} on {platform.system()}; "
        + ", ".join(versions),
        f"{processor()}, {psutil.cpu_count()} cores, {psutil.virtual_memory().total / 2**30:.0f} GiB",
        f"NumPy's BLAS: {blas['internal_api']} {blas['version']}, kernel {blas['architecture']}",
        f"load at the end of the run: {psutil.getloadavg()[0]:.1f}; a ratio compares neighbours in time, and its "
        "spread shows what else was going on",
    ]
    return "".join(f"- {line}\n" for line in lines)


def processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.+)", cpuinfo.read_text()) if cpuinfo.exists() else []
    return names[0].strip() if names else platform.processor() or platform.machine()


def fill(text: str, name: str, content: str) -> str:
    """Put `content` between the marks of that name."""
    marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    if not marked.search(text):
        raise ValueError(f"README.md has no place marked {name!r}")
    return marked.sub(lambda found: found[1] + "\n" + content + "\n" + found[2], text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ("speed", "memory", "growth", "accuracy")
    parser.add_argument("parts", nargs="*", help=f"any of {', '.join(parts)}; all if none is given")
    parser.add_argument("--rounds", type=int, default=3, help="how often each contender has its turn")
    parser.add_argument("--write", action="store_true", help="put the tables into README.md, and draw growth.svg")
    options = parser.parse_args()
    wanted = options.parts or list(parts)
    if unknown := set(wanted) - set(parts):
        parser.error(f"no such part: {', '.join(unknown)}")

    written = {}
    if "speed" in wanted:
        results = [r for threads in (1, 2) for r in measure("speed.py", threads, options.rounds, threads=threads)]
        written |= {"targets": target_table(results), "speed": speed_tables(results)}
    if "memory" in wanted:
        peaks = [measure("memory.py", kind, name, *shape) for kind, shape, names in MEMORY for name in names]
        written["memory"] = memory_table(peaks)
    if "growth" in wanted:
        points = measure("growth.py", options.rounds)
        peaks = [measure("memory.py", "forward", "lmhead streaming", 512, 512, 2**k) for k in range(13, 18)]
        written["growth"] = growth_table(points, peaks)
        if options.write:
            growth_plot(points, peaks)
    if "accuracy" in wanted:
        tables = measure("accuracy.py")
        written |= {"accuracy": accuracy_tables(tables), "edges": edges_table(tables["edges"])}
    written["facts"] = facts()

    for name, content in written.items():
        print(f"\n== {name}\n\n{content}")
    if options.write:
        text = README.read_text(encoding="utf-8")
        for name, content in written.items():
            text = fill(text, name, content)
        README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
