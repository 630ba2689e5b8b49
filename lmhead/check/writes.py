"""Chapter 12: which layer wrote a logit."""

from __future__ import annotations

import numpy as np

from lmhead._arguments import Array
from lmhead.check.run import Exercise, Function, Kind, Mistake, draw, run
from lmhead.smollm.model import gap_shares


def _root(writes: Array) -> Array:
    return np.sqrt(np.mean(writes.sum(axis=0) ** 2))


def _gains(seed: int, d_model: int) -> Array:
    return np.abs(draw(seed, d_model)) + 0.5


def _case(seed: int, n: int, d_model: int) -> tuple[Array, Array, Array]:
    return draw(seed, n, d_model), _gains(seed + 50, d_model), draw(seed + 90, d_model)


SHARES = Exercise(
    right=lambda writes, gain, direction: gap_shares(writes, direction, gain, eps=0.0),
    kinds=[
        Kind(
            "one write",
            "The final norm divides by the root mean square and multiplies by the gain; the product with the direction "
            "is the share.",
            [_case(1, 1, 3), _case(2, 1, 2)],
        ),
        Kind(
            "several writes",
            "All shares are divided by one number, the root mean square of the sum of all writes.",
            [_case(3, 2, 3), _case(4, 4, 3), _case(5, 5, 2), _case(6, 3, 4)],
        ),
        Kind(
            "a write of zeros",
            "What writes nothing has the share 0. Its own root mean square is 0 and must not be divided by.",
            [(np.array([[3.0, -1.0], [0.0, 0.0]]), np.array([1.0, 0.5]), np.array([2.0, -1.0]))],
        ),
    ],
    mistakes=[
        Mistake(
            lambda writes, gain, direction: writes @ (gain * direction),
            "You leave out the division: the norm divides by the root mean square of the whole sum.",
        ),
        Mistake(
            lambda writes, gain, direction: writes @ direction / _root(writes),
            "You leave out the gain: after dividing, the norm multiplies each dimension by its gain.",
        ),
        Mistake(
            lambda writes, gain, direction: writes @ direction,
            "You multiply with the direction alone. The final norm stands between the writes and the head.",
        ),
        Mistake(
            lambda writes, gain, direction: (
                writes @ (gain * direction) / np.sqrt(np.mean(writes**2, axis=1)).clip(1e-300)
            ),
            "You normalise each write by itself. The norm sees their sum only, and divides all by one number.",
        ),
        Mistake(
            lambda writes, gain, direction: writes @ (gain * direction) / np.linalg.norm(writes.sum(axis=0)),
            "You divide by the length of the sum. The norm divides by the root of the mean square: length / sqrt(d).",
        ),
        Mistake(
            lambda writes, gain, direction: writes @ (gain * direction) / np.mean(writes.sum(axis=0) ** 2),
            "You forget the square root: divide by the root of the mean square.",
        ),
        Mistake(
            lambda writes, gain, direction: writes @ (gain * direction) / np.sqrt(np.mean(writes**2)),
            "You take the root mean square of all writes at once. The norm sees one vector, their sum.",
        ),
        Mistake(
            lambda writes, gain, direction: (writes @ (gain * direction) / _root(writes)).sum(),
            "You return the whole gap. Asked is one share per write: do not sum over the writes.",
        ),
        Mistake(
            lambda writes, gain, direction: (writes @ (gain * direction) / _root(writes)).cumsum(),
            "You return running sums, what the gap is after each write. Asked is what each write adds.",
        ),
        Mistake(
            lambda writes, gain, direction: np.abs(writes @ (gain * direction) / _root(writes)),
            "You return the sizes. A share has a sign: a write can work against the answer.",
        ),
    ],
)


def shares(yours: Function) -> None:
    r"""Chapter 12, `shares(writes, gain, direction)`: the share of each write in the gap $z_a - z_b$.

    The norm's scale is held fixed: the share is $(w_i * gain) \cdot u / s$ with $s = \sqrt{mean(x^2)}$ and
    $x = \sum_i w_i$. writes is `[n, d_model]`, gain and the direction u are `[d_model]`, the result is `[n]`.

    >>> shares(lambda writes, gain, direction: writes @ (gain * direction))
    Not yet: one write (case 1 of 7).
      input     writes = [[0.7, 1.6, 0.7]], gain = [1.7, 1.7, 0.7], direction = [0.2, 1.4, -2.6]
      got       [2.772]
      expected  [2.5518]
      Looks like: You leave out the division: the norm divides by the root mean square of the whole
      sum.
    >>> import numpy as np
    >>> def by_loop(writes, gain, direction):
    ...     scale = np.sqrt(np.mean(sum(writes) ** 2))
    ...     return [w / scale * gain @ direction for w in writes]
    >>> shares(by_loop)
    Right: all 7 cases pass.
    """
    run(yours, SHARES)
