"""The loss of a head, and its gradients, as each library makes them; and the bare products, the limit of all of them.

Every contender is prepared once, `prepare(problem)`, and gives a function without arguments that does the work and
returns the loss. A library is imported by its own contenders alone, so that their memory can be told apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from lmhead.streaming import streaming_cross_entropy, streaming_head_grads


class Problem(NamedTuple):
    h: np.ndarray[Any, Any]  # [N, d_model]
    E: np.ndarray[Any, Any]  # [vocab, d_model]: a tied head, W_U is its transposed view
    targets: np.ndarray[Any, Any]  # [N]


def make_problem(n: int, d_model: int, vocab_size: int) -> Problem:
    """float32, and logits whose spread of 3 is about that of a real model."""
    rng = np.random.default_rng(0)
    E = rng.standard_normal((vocab_size, d_model), dtype=np.float32)
    E *= np.float32(3 / np.sqrt(d_model))
    h = rng.standard_normal((n, d_model), dtype=np.float32)
    return Problem(h, E, rng.integers(0, vocab_size, n))


Work = Callable[[], float]


# --- forward: the loss alone ---


def product(p: Problem) -> Work:
    logits = np.ones((len(p.h), len(p.E)), np.float32)  # ones: its memory is there before the clock starts
    return lambda: float(np.matmul(p.h, p.E.T, out=logits)[0, 0])


def streaming(p: Problem) -> Work:
    return lambda: float(streaming_cross_entropy(p.h, p.E.T, p.targets))


def scipy_loss(p: Problem) -> Work:
    from scipy.special import logsumexp

    def work() -> float:
        logits = p.h @ p.E.T
        return float((logsumexp(logits, axis=1) - logits[np.arange(len(p.h)), p.targets]).mean())

    return work


def torch_loss(p: Problem) -> Work:
    import torch
    from torch.nn.functional import cross_entropy, linear

    h, E, targets = as_tensors(p)

    def work() -> float:
        with torch.no_grad():
            return float(cross_entropy(linear(h, E), targets))

    return work


def torch_linear_loss(p: Problem) -> Work:
    import torch

    h, E, targets = as_tensors(p)
    options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=256)

    def work() -> float:
        with torch.no_grad():
            return float(torch.nn.functional.linear_cross_entropy(h, E, targets, options=options))

    return work


FORWARD = {
    "product": product,
    "lmhead streaming": streaming,
    "scipy": scipy_loss,
    "torch cross_entropy(linear)": torch_loss,
    "torch linear_cross_entropy, 256 rows": torch_linear_loss,
}


# --- forward and backward: the loss, dh and dE ---


def three_products(p: Problem) -> Work:
    logits = np.ones((len(p.h), len(p.E)), np.float32)
    dh, dE = np.ones_like(p.h), np.ones_like(p.E)

    def work() -> float:
        np.matmul(p.h, p.E.T, out=logits)
        np.matmul(logits, p.E, out=dh)
        np.matmul(logits.T, p.h, out=dE)
        return float(dE[0, 0])

    return work


def streaming_grads(p: Problem) -> Work:
    return lambda: float(streaming_head_grads(p.h, p.E.T, p.targets)[0])


def streaming_grads_in_place(p: Problem) -> Work:
    dE = np.ones_like(p.E)  # as a training step has it from the step before
    return lambda: float(streaming_head_grads(p.h, p.E.T, p.targets, out=dE.T)[0])


def streaming_grads_recomputed(p: Problem) -> Work:
    return lambda: float(streaming_head_grads(p.h, p.E.T, p.targets, recompute=True)[0])


def torch_grads(p: Problem) -> Work:
    from torch.nn.functional import cross_entropy, linear

    return backward(p, lambda h, E, targets: cross_entropy(linear(h, E), targets))


def torch_linear_grads_default(p: Problem) -> Work:
    return torch_linear_grads(p)


def torch_linear_grads_256(p: Problem) -> Work:
    return torch_linear_grads(p, batch_chunk_size=256)


def torch_linear_grads(p: Problem, **options: Any) -> Work:
    import torch

    chosen = torch.nn.LinearCrossEntropyOptions(**options)
    return backward(p, lambda h, E, y: torch.nn.functional.linear_cross_entropy(h, E, y, options=chosen))


def backward(p: Problem, loss_of: Callable[[Any, Any, Any], Any]) -> Work:
    h, E, targets = as_tensors(p)
    h.requires_grad_()
    E.requires_grad_()

    def work() -> float:
        h.grad = E.grad = None
        loss = loss_of(h, E, targets)
        loss.backward()
        return float(loss.detach())

    return work


FORWARD_BACKWARD = {
    "three products": three_products,
    "lmhead streaming, dE at hand": streaming_grads_in_place,
    "lmhead streaming": streaming_grads,
    "lmhead streaming, recompute=True": streaming_grads_recomputed,
    "torch cross_entropy(linear)": torch_grads,
    "torch linear_cross_entropy, 256 rows": torch_linear_grads_256,
    "torch linear_cross_entropy, defaults": torch_linear_grads_default,
}


def as_tensors(p: Problem) -> tuple[Any, Any, Any]:
    """The same memory, as torch sees it."""
    import torch

    return torch.from_numpy(p.h), torch.from_numpy(p.E), torch.from_numpy(p.targets)
