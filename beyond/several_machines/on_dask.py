"""One training step of a head in shards, on Dask: the four functions of `lmhead.sharded` as tasks.

    python on_dask.py --workers 2                            workers on this machine
    python on_dask.py --scheduler tcp://10.0.0.1:8786        those of a cluster that is there

A task whose worker dies is done again on another, with all that it needs: so shards and positions are made by tasks,
and not sent from here.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import example
from cluster import arguments, connected
from distributed import Client, Future

from lmhead.sharded import backward, forward, loss, together


class Step(NamedTuple):
    """What a step computes, each where it was computed."""

    messages: list[Future]  # [3, N] of each shard
    loss: Future
    dh: Future  # [N, d_model]
    pushed: list[Future]  # the gradients of each shard's own columns; they stay on its worker


def places(client: Client, n: int) -> list[dict[str, Any]]:
    """A worker for each of n shards, in turn; another one if it dies."""
    workers = sorted(client.ncores())
    return [{"workers": [workers[i % len(workers)]], "allow_other_workers": True, "pure": False} for i in range(n)]


def step(client: Client, shards: list[Future], h: Future, targets: Future) -> Step:
    """The loss and its gradients; between workers go messages, and the parts of dh."""
    at = list(zip(shards, places(client, len(shards)), strict=True))
    messages = [client.submit(forward, h, shard, targets, **place) for shard, place in at]
    message = client.submit(together, messages, pure=False)
    pushed = [client.submit(backward, h, shard, targets, message, **place) for shard, place in at]
    parts = [client.submit(getattr, push, "h", **place) for push, (_, place) in zip(pushed, at, strict=True)]
    return Step(
        messages, client.submit(loss, message, targets, pure=False), client.submit(sum, parts, pure=False), pushed
    )


def main() -> None:
    """A few steps of the example, timed and compared with one machine."""
    with connected(arguments(__doc__).parse_args()) as client:
        client.upload_file(example.__file__)  # a cluster knows lmhead alone
        size = len(client.ncores())
        shards = [client.submit(example.shard, rank, size, **place) for rank, place in enumerate(places(client, size))]
        h, targets = (client.submit(lambda i: example.positions()[i], i, pure=False) for i in (0, 1))
        client.gather(client.submit(len, shards))
        seconds = []
        for _ in range(3):
            began = time.perf_counter()
            done = step(client, shards, h, targets)
            value, dh = done.loss.result(), done.dh.result()
            seconds.append(time.perf_counter() - began)
        dWs = [client.submit(getattr, push, "W_U").result() for push in done.pushed]
        print(f"{size} workers: {min(seconds):.2f} s;", example.compared(value, dh, dWs))


if __name__ == "__main__":
    main()
