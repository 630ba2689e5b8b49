"""Chapter 8: the same formulas where floating point ends, above and below."""

from __future__ import annotations

import numpy as np

import lmhead
from lmhead._arguments import Array
from lmhead.check.run import Exercise, Function, Kind, Mistake, draw, run


def _naive_log_softmax(z: Array, axis: int = -1) -> Array:
    return z - np.log(np.exp(z).sum(axis=axis, keepdims=True))


def _shifted_log_softmax(z: Array, top: Array) -> Array:
    return z - top - np.log(np.exp(z - top).sum(axis=-1, keepdims=True))


LOG_SOFTMAX = Exercise(
    right=lambda z: lmhead.log_softmax(z),
    kinds=[
        Kind(
            "one row",
            "log p = z - log(sum(exp(z))).",
            [(np.array([2.0, 1.0, 0.1]),), (np.array([-1.0, 0.0, 2.0, 0.5]),)],
        ),
        Kind(
            "several rows",
            "Each row has its own sum, over the last axis, however many axes there are: axis=-1, keepdims=True.",
            [(draw(1, 2, 3),), (draw(2, 3, 2),), (draw(4, 3, 3),), (draw(3, 2, 2, 3),)],
        ),
        Kind(
            "large logits",
            "exp overflows above 709.78, and underflows far below 0. Subtract each row's own maximum, in both places.",
            [(np.array([[1000.0, 999.0, 998.0]]),), (np.array([[1000.0, 999.0], [-1000.0, -1002.0]]),)],
        ),
        Kind(
            "a probability too small for a float",
            "p underflows to 0 and log 0 is -inf, but log p is an ordinary number: never form p.",
            [(np.array([[0.0, -800.0, 1.0], [2.0, 1.0, 0.1]]),)],
        ),
    ],
    mistakes=[
        Mistake(
            lambda z: np.log(lmhead.softmax(z)),
            "You take the log of a softmax: where p underflows to 0 it is -inf. Subtract instead: z - m - log(sum).",
        ),
        Mistake(
            lambda z: _naive_log_softmax(z),
            "exp(z) overflows, or underflows to log 0. Subtract the row's maximum first.",
        ),
        Mistake(
            lambda z: lmhead.log_softmax(z, axis=0),
            "You sum over axis 0, the positions. The vocabulary is the last axis: axis=-1.",
        ),
        Mistake(
            lambda z: z - lmhead.logsumexp(z.ravel()),
            "You take the log of the sum of the whole array. Each row has its own: axis=-1, keepdims=True.",
        ),
        Mistake(
            lambda z: _shifted_log_softmax(z, z.max()),
            "You subtract the maximum of the whole array. Rows far below it underflow: take each row's own.",
        ),
        Mistake(
            lambda z: z - np.log(np.exp(z - z.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True)),
            "You subtract the maximum inside exp only. What the sum lost has to come back: z - m - log(sum).",
        ),
        Mistake(
            lambda z: z - z.max(axis=-1) - np.log(np.exp(z - z.max(axis=-1)).sum(axis=-1)),
            "Without keepdims=True a row's maximum and sum meet the wrong axis.",
        ),
        Mistake(
            lambda z: z - z.max(axis=-1, keepdims=True),
            "You only shift by the maximum. Subtract the log of the sum too.",
        ),
        Mistake(
            lambda z: z - np.exp(z - z.max(-1, keepdims=True)).sum(-1, keepdims=True),
            "You subtract the sum itself. Take its logarithm.",
        ),
        Mistake(lambda z: -lmhead.log_softmax(z), "You lost a sign: the log of a probability is never positive."),
        Mistake(lambda z: lmhead.softmax(z), "You return probabilities. Asked are their logarithms."),
        Mistake(lambda z: lmhead.log_softmax(z) / np.log(2), "You use log2, which gives bits. Nats need np.log."),
        Mistake(lambda z: lmhead.logsumexp(z), "You return the log of the sum. Subtract it from z."),
    ],
)


def log_softmax(yours: Function) -> None:
    r"""Chapter 8, `log_softmax(z)`: log-probabilities over the last axis, $z_j - \log\sum_i e^{z_i}$, without overflow.

    z is `[..., vocab]` of any leading shape, the result has the shape of z.

    >>> log_softmax(lambda z: np.log(lmhead.softmax(z)))
    Not yet: a probability too small for a float (case 9 of 9).
      input     z = [[0.0, -800.0, 1.0], [2.0, 1.0, 0.1]]
      got       [[-1.3133, -inf, -0.3133], [-0.417, -1.417, -2.317]]
      expected  [[-1.3133, -801.3133, -0.3133], [-0.417, -1.417, -2.317]]
      Looks like: You take the log of a softmax: where p underflows to 0 it is -inf. Subtract
      instead: z - m - log(sum).
    >>> def shifted(z):
    ...     gap = z - z.max(axis=-1, keepdims=True)
    ...     return gap - np.log(np.exp(gap).sum(axis=-1, keepdims=True))
    >>> log_softmax(shifted)
    Right: all 9 cases pass.
    """
    run(yours, LOG_SOFTMAX)


def _rest(z: Array, y: int) -> float:
    """What all other tokens weigh against the target's 1."""
    return float(np.exp(np.delete(z, y) - z[y]).sum())


SURE_LOSS = Exercise(
    right=lambda z, y: float(lmhead.cross_entropy(z, y)),
    kinds=[
        Kind(
            "ordinary logits",
            "The loss is -log p[y] = log(sum(exp(z))) - z[y].",
            [(np.array([2.0, 1.0, 0.1]), y) for y in range(3)],
        ),
        Kind(
            "a sure target",
            "1 + 4e-18 is 1 in a float. Keep the target's own 1 out of the sum: log1p of what the others weigh.",
            [
                (np.array([40.0, 0.0, 0.0]), 0),
                (np.array([0.0, 1.0, 50.0, 0.0]), 2),
                (np.array([-30.0, 30.0, -30.5]), 1),
            ],
        ),
        Kind(
            "large logits",
            "exp overflows above 709.78. Only differences to the largest logit go into exp.",
            [(np.array([1000.0, 950.0, 900.0]), 1), (np.array([-1000.0, -1045.0]), 1)],
        ),
        Kind(
            "a target far below the best",
            "The others weigh up to e^800 against the target: shift by the largest logit, and add how far y is below.",
            [(np.array([lead - 500.0, -500.0, -499.5]), 1) for lead in (40.0, 720.0, 800.0)],
        ),
        Kind(
            "two that share the lead",
            "Only one of the largest is left out of the sum; another one that is as large stays in it.",
            [(np.array([3.0, 3.0, -40.0]), 0), (np.array([-45.0, 5.0, 5.0]), 0)],
        ),
    ],
    mistakes=[
        Mistake(
            lambda z, y: lmhead.logsumexp(z) - z[y],
            "logsumexp - z[y] subtracts two numbers that are equal to the last digit. Use log1p of the others' sum.",
        ),
        Mistake(
            lambda z, y: -np.log(lmhead.softmax(z)[y]),
            "p[y] rounds to 1 and its log to 0 (and a small p to 0). Use log1p of the others' sum.",
        ),
        Mistake(
            lambda z, y: np.log(1 + _rest(z, y)),
            "log(1 + rest) rounds 1 + rest to 1 before the log. np.log1p(rest) keeps it.",
        ),
        Mistake(
            lambda z, y: np.log1p(_rest(z, y)),
            "You shift by the target's logit: exp overflows where another is far above. Shift by the largest.",
        ),
        Mistake(
            _rest,
            "You return the others' sum, which is the loss only where that is tiny. The loss is log1p of it.",
        ),
        Mistake(
            lambda z, y: np.log1p(np.exp(z - z.max()).sum()) + z.max() - z[y],
            "Your sum still holds the largest token's own 1, which log1p adds again. Leave that term out.",
        ),
        Mistake(
            lambda z, y: z.max() - z[y] + np.log1p(np.exp(z[z < z.max()] - z.max()).sum()),
            "You leave out every token as large as the largest. Leave out one of them: np.delete(z, z.argmax()).",
        ),
        Mistake(
            lambda z, y: -np.log1p(lmhead.softmax(z)[y] - 1),
            "log1p(p - 1) comes too late: p has rounded to 1 already. Sum up the others instead.",
        ),
        Mistake(lambda z, y: -lmhead.cross_entropy(z, y), "The minus is missing: log p is negative, a cost is not."),
        Mistake(
            lambda z, y: lmhead.cross_entropy(z, y) + 1e-12,
            "An epsilon of 1e-12 is larger than the whole loss of a sure target. Leave it out.",
        ),
        Mistake(
            lambda z, y: np.log1p(np.exp(np.delete(z, z.argmax()) - z.max()).sum()),
            "You give the loss of the best token. Where the target is another, add how far it is below: max - z[y].",
        ),
        Mistake(
            lambda z, y: lmhead.cross_entropy(z, y) / np.log(2), "You use log2, which gives bits. Nats need np.log1p."
        ),
    ],
    atol=0.0,
)


def sure_loss(yours: Function) -> None:
    r"""Chapter 8, `sure_loss(z, y) -> loss`: cross-entropy that keeps its digits as $p_y$ nears 1.

    With k the largest logit it is $(z_k - z_y) + \mathrm{log1p}(\sum_{j \ne k} e^{z_j - z_k})$. z is `[vocab]`, y a
    token id. The result is compared relatively, so that 0 is no answer where the loss is 1e-17.

    >>> sure_loss(lambda z, y: np.log(np.exp(z - z.max()).sum()) + z.max() - z[y])
    Not yet: a sure target (case 4 of 13).
      input     z = [40.0, 0.0, 0.0], y = 0
      got       0.0
      expected  8.497e-18
      Looks like: logsumexp - z[y] subtracts two numbers that are equal to the last digit. Use log1p
      of the others' sum.
    >>> def keeps_digits(z, y):
    ...     k = z.argmax()
    ...     return z[k] - z[y] + np.log1p(np.exp(np.delete(z, k) - z[k]).sum())
    >>> sure_loss(keeps_digits)
    Right: all 13 cases pass.
    """
    run(yours, SURE_LOSS)
