"""A head of SmolLM2's size, made of random numbers: each worker makes its own columns, and nothing has to be sent."""

from __future__ import annotations

import numpy as np

from lmhead import cross_entropy, head_grads, unembed
from lmhead.sharded import Shard

N, D_MODEL, VOCAB_SIZE, BLOCK = 512, 576, 49_152, 1024


def shard(rank: int, size: int) -> Shard:
    """The columns of shard `rank` of `size`; their numbers do not depend on how many shards there are."""
    first, end = (VOCAB_SIZE * r // size for r in (rank, rank + 1))
    blocks = range(first // BLOCK, (end - 1) // BLOCK + 1)
    W = np.concatenate([np.random.default_rng([1, i]).normal(0, 0.05, (D_MODEL, BLOCK)) for i in blocks], axis=1)
    return Shard(W[:, first - blocks.start * BLOCK :][:, : end - first], first, VOCAB_SIZE)


def positions() -> tuple[np.ndarray, np.ndarray]:
    """Hidden states `[N, d_model]` and targets `[N]`, of which every seventh is ignored."""
    rng = np.random.default_rng(2)
    targets = rng.integers(VOCAB_SIZE, size=N)
    targets[::7] = -100
    return rng.normal(0, 4.0, (N, D_MODEL)), targets


def compared(loss, dh, dWs) -> str:
    """How far a result is from the one that one machine computes of all logits."""
    (h, targets), W_U = positions(), shard(0, 1).W
    plain = head_grads(h, W_U, targets)

    def off(got, true) -> str:
        return f"{np.abs(got - true).max() / np.abs(true).max():.0e}"

    true_loss = cross_entropy(unembed(h, W_U), targets)
    dW = np.concatenate(dWs, axis=1)
    return f"loss {loss:.6f} off by {abs(loss - true_loss):.0e}, dh {off(dh, plain.h)}, dW_U {off(dW, plain.W_U)}"
