"""How many digits of the loss, of softmax and of long sums each library keeps, against 50 digits: JSON out."""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import scipy.special
import torch
from contenders import FORWARD, make_problem

import lmhead
from lmhead.streaming import streaming_cross_entropy, streaming_head_grads

jax.config.update("jax_enable_x64", True)
mpmath.mp.dps = 50

Array = np.ndarray[Any, Any]
FLOATS = {"float32": np.float32, "float64": np.float64}


def streaming_loss(z: Array, y: int) -> Any:
    """With the identity for W_U the hidden state is the logits; in three chunks."""
    identity = np.eye(len(z), dtype=z.dtype)
    return streaming_cross_entropy(z, identity, y, chunk=-(-len(z) // 3), reduction="none")


def streaming_grad(z: Array, y: int) -> Any:
    return streaming_head_grads(z, np.eye(len(z), dtype=z.dtype), y, chunk=-(-len(z) // 3))[1].h


def torch_grad(z: Array, y: int) -> Any:
    leaf = torch.tensor(z, requires_grad=True)
    torch.nn.functional.cross_entropy(leaf, torch.tensor(y)).backward()
    return leaf.grad.numpy()


def jax_loss(z: Any, y: int) -> Any:
    return -jax.nn.log_softmax(jnp.asarray(z))[y]


def scipy_grad(z: Array, y: int) -> Any:
    p = scipy.special.softmax(z)
    p[y] -= 1
    return p


LOSS: dict[str, Callable[[Array, int], Any]] = {
    "lmhead": lambda z, y: lmhead.cross_entropy(z, y),
    "lmhead streaming": streaming_loss,
    "scipy": lambda z, y: scipy.special.logsumexp(z) - z[y],
    "torch": lambda z, y: torch.nn.functional.cross_entropy(torch.from_numpy(z), torch.tensor(y)).numpy(),
    "jax": jax_loss,
}
GRAD: dict[str, Callable[[Array, int], Any]] = {
    "lmhead": lambda z, y: lmhead.cross_entropy_grad(z, y),
    "lmhead streaming": streaming_grad,
    "scipy": scipy_grad,
    "torch": torch_grad,
    "jax": lambda z, y: jax.grad(jax_loss)(jnp.asarray(z), y),
}
SOFTMAX: dict[str, Callable[[Array], Any]] = {
    "lmhead": lmhead.softmax,
    "scipy": scipy.special.softmax,
    "torch": lambda z: torch.softmax(torch.from_numpy(z), 0).numpy(),
    "jax": lambda z: jax.nn.softmax(jnp.asarray(z)),
}


# --- the tables ---


def loss_near_one() -> list[dict[str, Any]]:
    """Relative errors of the loss and of the gradient's target entry; the target, in the middle, leads by `lead`."""
    rows = []
    for dtype, leads in (("float32", (5, 14, 18, 25, 60, 80)), ("float64", (5, 14, 36, 46, 60, 100))):
        for lead in leads:
            z = np.random.default_rng(lead).uniform(-1, 0, 1000).astype(FLOATS[dtype])
            z[500] = lead
            rest = mpmath.fsum(mpmath.exp(mpmath.mpf(float(x)) - lead) for j, x in enumerate(z) if j != 500)
            loss, grad = mpmath.log1p(rest), -rest / (1 + rest)
            rows.append(
                {
                    "case": f"{dtype}, lead {lead}",
                    "true loss": float(loss),
                    "loss": {name: relative(f(z, 500), loss) for name, f in LOSS.items()},
                    "gradient": {name: relative(np.asarray(f(z, 500))[500], grad) for name, f in GRAD.items()},
                }
            )
    return rows


def softmax_ulps() -> list[dict[str, Any]]:
    """The worst entry of softmax, in units of the last place."""
    rng = np.random.default_rng(0)
    families = {
        "normal, spread 3": rng.normal(0, 3, 2000),
        "the same, offset 1000": rng.normal(1000, 3, 2000),
        "normal, spread 30": rng.normal(0, 30, 2000),
        "normal, spread 1000": rng.normal(0, 1000, 500),
        "one leads by 60": np.append(rng.uniform(-1, 0, 2000), 60.0),
    }
    rows = []
    for family, values in families.items():
        for dtype, kind in FLOATS.items():
            z = values.astype(kind)
            weights = [mpmath.exp(mpmath.mpf(float(x)) - mpmath.mpf(float(z.max()))) for x in z]
            total = mpmath.fsum(weights)
            true = [w / total for w in weights]
            rows.append({"case": f"{dtype}, {family}", "ulp": {n: worst_ulp(f(z), true) for n, f in SOFTMAX.items()}})
    return rows


def long_sums() -> list[dict[str, Any]]:
    """The largest error of log_softmax along axis 0, where a sum runs over memory far apart."""
    contenders = {
        "lmhead": lambda z: lmhead.log_softmax(z, axis=0),
        "scipy": lambda z: scipy.special.log_softmax(z, axis=0),
        "torch": lambda z: torch.log_softmax(torch.from_numpy(z), 0).numpy(),
        "jax": lambda z: jax.nn.log_softmax(jnp.asarray(z), axis=0),
    }
    rows = []
    for vocab in (10_000, 200_000, 4_000_000):
        z = np.random.default_rng(0).uniform(-1, 0, (vocab, 2)).astype(np.float32)
        column = z[:, 1].astype(np.float64)
        true = column - np.log(math.fsum(np.exp(column)))  # float64 is exact enough for float32
        errors = {name: float(abs(np.asarray(f(z))[:, 1] - true).max()) for name, f in contenders.items()}
        rows.append({"case": f"float32, V = {vocab:,}", "error": errors})
    return rows


def end_to_end() -> list[dict[str, Any]]:
    """The relative error of a mean loss from h and W_U; the exact logits are those of a float64 product."""
    names = ("lmhead streaming", "scipy", "torch cross_entropy(linear)", "torch linear_cross_entropy, 256 rows")
    rows = []
    for shape in ((256, 576, 49_152), (128, 2048, 49_152)):
        p = make_problem(*shape)
        total = 0.0
        for part in range(0, len(p.h), 64):
            block = slice(part, part + 64)
            logits = p.h[block].astype(np.float64) @ p.E.T.astype(np.float64)
            total += float(lmhead.cross_entropy(logits, p.targets[block], reduction="sum"))
        true = total / len(p.h)
        errors = {name: abs(FORWARD[name](p)() / true - 1) for name in names}
        rows.append({"case": "N {}, d {}, V {:,}".format(*shape), "error": errors})
    return rows


def edges() -> list[dict[str, Any]]:
    """What comes back, or is raised, for input at the edges. All through the loss of `logits [2, 4]`."""
    z = np.array([[1.0, 2.0, 0.5, 0.0], [0.0, 1.0, 3.0, 2.0]])
    y = np.array([1, 2])

    def put(value: float, at: Any) -> Array:
        changed = z.copy()
        changed[at] = value
        return changed

    cases: dict[str, tuple[Array, Array, str]] = {
        "every target ignored, mean": (z, np.array([-100, -100]), "mean"),
        "NaN logits in an ignored row": (put(np.nan, 0), np.array([-100, 2]), "mean"),
        "target 4 of 4 tokens": (z, np.array([1, 4]), "mean"),
        "target -1": (z, np.array([1, -1]), "mean"),
        "-inf on another token": (put(-np.inf, (0, 0)), y, "mean"),
        "-inf on the target": (put(-np.inf, (0, 1)), y, "mean"),
        "-inf everywhere in a row": (put(-np.inf, 0), y, "mean"),
        "+inf logit": (put(np.inf, (0, 0)), y, "mean"),
        "one token": (z[:, :1], np.array([0, 0]), "mean"),
        "no rows": (z[:0], y[:0], "mean"),
        "float16, mean of 10,000 losses": (
            np.tile(np.float16([0.0, 9.0]), (10_000, 1)),
            np.zeros(10_000, np.int64),
            "mean",
        ),
        "int32 targets": (z, y.astype(np.int32), "mean"),
        "targets of shape (2, 1)": (z, y[:, None], "mean"),
        "float targets": (z, y.astype(float), "mean"),
    }
    contenders = {
        "lmhead": lambda z, y, r: lmhead.cross_entropy(z, y, reduction=r),
        "scipy, the NumPy idiom": lambda z, y, r: numpy_idiom(z, y),
        "torch": lambda z, y, r: torch.nn.functional.cross_entropy(torch.tensor(z), torch.tensor(y), reduction=r),
        "jax, the masked idiom": lambda z, y, r: jax_idiom(z, y),
    }
    gradients = {
        "lmhead": lambda z, y: lmhead.cross_entropy_grad(z, y)[0, 0],
        "scipy, the NumPy idiom": lambda z, y: numpy_grad_idiom(z, y)[0, 0],
        "torch": lambda z, y: torch_grad(z, y)[0, 0],
        "jax, the masked idiom": lambda z, y: jax.grad(jax_idiom)(jnp.asarray(z), y)[0, 0],
    }
    rows = [
        {"case": case, "outcome": {name: outcome(f, *arguments) for name, f in contenders.items()}}
        for case, arguments in cases.items()
    ]
    ignored = cases["NaN logits in an ignored row"][:2]
    entry = {name: outcome(f, *ignored) for name, f in gradients.items()}
    return [*rows[:2], {"case": "the same, gradient of that row", "outcome": entry}, *rows[2:]]


def numpy_idiom(z: Array, y: Array) -> Any:
    """As many programs write it."""
    counts = y != -100
    losses = scipy.special.logsumexp(z, axis=1) - z[np.arange(len(z)), np.where(counts, y, 0)]
    return (losses * counts).sum() / counts.sum()


def numpy_grad_idiom(z: Array, y: Array) -> Array:
    return (scipy.special.softmax(z, axis=1) - np.eye(z.shape[1])[y % z.shape[1]]) * (y != -100)[:, None]


def jax_idiom(z: Array, y: Array) -> Any:
    counts = y != -100
    log_p = jax.nn.log_softmax(jnp.asarray(z))
    losses = -jnp.take_along_axis(log_p, jnp.where(counts, y, 0)[:, None], axis=1)[:, 0]
    return (losses * counts).sum() / counts.sum()


def outcome(function: Callable[..., Any], *arguments: Any) -> str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            text = f"{float(function(*arguments)):.6g}"
        except Exception as error:
            return type(error).__name__
    return text + (" and a warning" if caught else "")


def relative(got: Any, true: Any) -> float:
    return float(abs(mpmath.mpf(float(got)) - true) / abs(true))


def worst_ulp(got: Any, true: list[Any]) -> float:
    """Over the entries that are no subnormals."""
    values = np.asarray(got)
    tiny = float(np.finfo(values.dtype).tiny)
    pairs = [(v, t) for v, t in zip(values, true, strict=True) if t > tiny]
    spacing = [float(np.spacing(values.dtype.type(float(t)))) for _, t in pairs]
    return max(float(abs(mpmath.mpf(float(v)) - t)) / s for (v, t), s in zip(pairs, spacing, strict=True))


def main() -> None:
    tables = {}
    for table in (loss_near_one, softmax_ulps, long_sums, end_to_end, edges):
        tables[table.__name__] = table()
        print(f"{table.__name__}: done", file=sys.stderr, flush=True)
    print(json.dumps(tables))


if __name__ == "__main__":
    main()
