"""Heads of all kinds in 1 to 4 shards, and what one machine computes of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lmhead import HeadGrads, cross_entropy, head_grads, unembed
from lmhead.sharded import Shard

N, D_MODEL, VOCAB_SIZE = 7, 5, 23
CUTS = ((0,), (0, 11), (0, 4, 20), (0, 1, 13, 22))  # where the shards begin: uneven, and two of them a column wide


class Case(NamedTuple):
    """A head, its positions, and where its shards begin."""

    h: np.ndarray
    W_U: np.ndarray
    b: np.ndarray
    targets: np.ndarray
    starts: tuple[int, ...]

    @property
    def shards(self) -> list[Shard]:
        """The head, cut."""
        ends = (*self.starts[1:], VOCAB_SIZE)
        return [Shard(self.W_U[:, i:j], i, VOCAB_SIZE, self.b[i:j]) for i, j in zip(self.starts, ends, strict=True)]

    def expected(self) -> tuple[float, HeadGrads]:
        """The loss and its gradients, from all logits."""
        logits = unembed(self.h, self.W_U, self.b)
        return float(cross_entropy(logits, self.targets)), head_grads(self.h, self.W_U, self.targets, b=self.b)


def cases() -> dict[str, Case]:
    """Every kind in every cut."""
    rng = np.random.default_rng(18)
    h, W_U, b = rng.normal(size=(N, D_MODEL)), rng.normal(size=(D_MODEL, VOCAB_SIZE)), rng.normal(size=VOCAB_SIZE)
    targets = rng.integers(1, 4, N)
    ignored, masked, lead = np.where(np.arange(N) % 3 == 1, -100, targets), b.copy(), b.copy()
    masked[4:22] = -np.inf  # whole shards of them
    lead[3] = 60.0
    bad = np.where(np.arange(N)[:, None] % 3 == 1, np.nan, h)
    kinds = {
        "plain": (h, W_U, b, targets),
        "ignored targets": (bad, W_U, b, ignored),
        "masked shards": (h, W_U, masked, targets),
        "a nearly certain target": (h, W_U, lead, np.full(N, 3)),
    }
    return {f"{kind}, {len(cut)} shards": Case(*given, cut) for kind, given in kinds.items() for cut in CUTS}


def shard(name: str, i: int) -> Shard:
    """One of a case's shards, made where it is asked for."""
    return cases()[name].shards[i]


def field(name: str, key: str) -> np.ndarray:
    """Its h or its targets."""
    return getattr(cases()[name], key)


def assert_same(case: Case, loss: float, dh: np.ndarray, dW_U: np.ndarray, db: np.ndarray) -> None:
    """To 1e-12, the loss relative to itself, however small it is."""
    true_loss, true = case.expected()
    np.testing.assert_allclose(loss, true_loss, rtol=1e-12, atol=0)
    for got, expected in zip((dh, dW_U, db), true, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14)


def over_mpi() -> None:
    """All cases of as many shards as there are processes: mpiexec -n 3 python cases.py."""
    from mpi4py import MPI
    from over_mpi import step

    comm, sent = MPI.COMM_WORLD, []

    class Counting:  # what each process hands to Allgather
        rank, size, Allreduce = comm.rank, comm.size, comm.Allreduce

        def Allgather(self, mine, messages):
            sent.append((mine.shape, str(mine.dtype)))
            comm.Allgather(mine, messages)

    for name, case in cases().items():
        if len(case.starts) == comm.size:
            loss, pushed = step(Counting(), case.h, case.shards[comm.rank], case.targets)
            dW_U, db = (np.concatenate(comm.allgather(part), axis=-1) for part in (pushed.W_U, pushed.b))
            assert_same(case, loss, pushed.h, dW_U, db)
            assert sent.pop() == ((3, N), "float64")
            if comm.rank == 0:
                print(name)


if __name__ == "__main__":
    over_mpi()
