"""Loss, perplexity and bits per byte of a folder of texts by the real model, on as many workers as there are.

    python corpus.py FOLDER --results FILE.jsonl --workers 2
    python corpus.py FOLDER --results FILE.jsonl --scheduler tcp://10.0.0.1:8786

Each document, a .txt file in UTF-8, is scored from its first token on, after the model's own separator; a long one in
windows. Its row goes to the results file when it is done. So every document counts once, whatever dies: a worker's
documents are done again by another; and if this program dies, the same command goes on where it stopped. A document
that kills its workers, or cannot be read, is named, and the others are counted.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import filelock
from cluster import arguments, connected
from distributed import Client, as_completed, get_worker
from tqdm import tqdm

import lmhead

WINDOW = 1024  # tokens that the model reads at once, its separator among them
AHEAD = 64  # documents that are under way at a time: no more of a large corpus is held in memory


class Score(NamedTuple):
    """What a document adds to the corpus."""

    nats: float
    tokens: int
    bytes: int


def score(data: bytes, window: int = WINDOW) -> Score:
    """The summed loss of a text in UTF-8; this runs on a worker, which needs lmhead alone and not this file."""
    import numpy as np

    from lmhead.smollm import load_model

    worker = get_worker()
    if not hasattr(worker, "model"):
        worker.model = load_model(mapped=True)  # the workers of a machine share its memory
    model = worker.model
    separator, *ids = model.tokenizer.encode(data.decode(), "text").tolist()
    nats = []
    for start in range(0, len(ids), window - 1):
        read = np.array([separator, *ids[start : start + window - 1]])
        h = model.final_norm(model.hidden_states(read)[-1])
        targets = lmhead.shift_targets(read)
        nats.append(float(lmhead.streaming_cross_entropy(h, model.W_U, targets, reduction="sum")))
    return Score(math.fsum(nats), len(ids), len(data))


# ---- the documents, and the rows of those that are done


def documents(folder: Path) -> dict[str, Path]:
    """The .txt files of a folder and of those in it, by their paths in it."""
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.txt"))}


def digest(path: Path) -> str:
    """A row is that of a text, not of a name: a file that was changed is scored anew."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def rows(results: Path) -> dict[tuple[str, str], Score]:
    """What the results file holds, by document and digest; a line that a dying program tore is none."""
    done = {}
    for line in results.read_text("utf-8").splitlines() if results.exists() else ():
        try:
            name, of, *numbers = json.loads(line)
        except ValueError:
            continue
        done[name, of] = Score(*numbers)
    return done


# ---- the work


def scores(
    client: Client, left: dict[str, Path], ahead: int, score: Callable[[bytes], Score]
) -> Iterator[tuple[str, Score | BaseException]]:
    """Each document with its score or what became of it, as they are done; at most `ahead` are under way."""
    run, waiting, names = uuid.uuid4().hex[:8], iter(left.items()), {}
    results = as_completed(with_results=True, raise_errors=False)  # fetched while others still run

    def send(n: int) -> None:
        for name, path in itertools.islice(waiting, n):
            future = client.submit(score, path.read_bytes(), key=f"{run}-{name}", pure=False)
            names[future] = name
            results.add(future)

    send(ahead)
    for future, result in results:
        found = future.exception() if future.status == "error" else Score(*result)
        future.release()  # else its worker keeps it, and it is done anew when that worker dies
        send(1)
        yield names.pop(future), found


def run(
    client: Client, folder: Path, results: Path, score: Callable[[bytes], Score] = score
) -> tuple[dict[str, Score], dict[str, BaseException]]:
    """The scores of all documents, and those that have none, each with the reason."""
    corpus, done = documents(folder), rows(results)
    key = {name: (name, digest(path)) for name, path in corpus.items()}
    left = {name: path for name, path in corpus.items() if key[name] not in done}
    failed: dict[str, BaseException] = {}
    torn = results.exists() and results.read_bytes()[-1:] not in (b"", b"\n")
    with results.open("a", encoding="utf-8") as file, progress(len(corpus), len(left)) as bar:
        file.write("\n" * torn)
        for ahead in (AHEAD, 1):  # what failed is tried again, alone: beside a deadly document others may have died
            failed = {}
            for name, found in scores(client, left, ahead, score):
                if isinstance(found, BaseException):
                    failed[name] = found
                else:
                    done[key[name]] = found
                    file.write(json.dumps([*key[name], *found]) + "\n")
                    file.flush()
                    bar.update()
            left = {name: corpus[name] for name in failed}
    return {name: done[key[name]] for name in corpus if name not in failed}, failed


def progress(total: int, left: int) -> tqdm:
    """A bar on a terminal, nothing elsewhere."""
    return tqdm(total=total, initial=total - left, unit=" documents", disable=None, smoothing=0)


def summary(scored: dict[str, Score]) -> str:
    """The totals; all rows are added up at once, so that neither order nor sharing out changes a digit."""
    nats = math.fsum(one.nats for one in scored.values())
    tokens, size = (sum(getattr(one, what) for one in scored.values()) for what in ("tokens", "bytes"))
    said = f"{len(scored)} documents, {tokens:,} tokens, {size:,} bytes: {nats!r} nats"
    if not tokens:
        return said
    loss, bits = nats / tokens, lmhead.bits_per_byte(nats, size)
    return f"{said}; loss {loss:.6f}, perplexity {lmhead.perplexity(loss):.4f}, bits per byte {bits:.6f}"


def main() -> int:
    """The command line."""
    parser: argparse.ArgumentParser = arguments(__doc__)
    parser.add_argument("folder", type=Path, help="where the .txt files are, on this machine alone")
    parser.add_argument("--results", type=Path, required=True, help="a row for each document; kept, and gone on from")
    given = parser.parse_args()
    if not documents(given.folder):
        parser.error(f"no .txt file in {given.folder}")
    try:
        with filelock.FileLock(f"{given.results}.lock", timeout=0), connected(given) as client:
            scored, failed = run(client, given.folder, given.results)
    except filelock.Timeout:
        parser.error(f"{given.results} is in use: another run writes its rows there")
    print(summary(scored))
    for name, why in failed.items():
        print(f"not counted: {name}: {type(why).__name__}: {why}"[:300], file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
