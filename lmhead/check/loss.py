"""Chapters 6 and 7: what a guess costs, and which positions a mean counts."""

from __future__ import annotations

import numpy as np

import lmhead
from lmhead._arguments import Array
from lmhead.check.run import Exercise, Function, Kind, Mistake, draw, run

_GUESS = np.array([2.0, 1.0, 0.1])

CROSS_ENTROPY = Exercise(
    right=lambda z, y: float(lmhead.cross_entropy(z, y)),
    kinds=[
        Kind(
            "each token as the target",
            "The loss is -log p[y]: the softmax of z, the entry of the target, the natural logarithm, a minus.",
            [*((_GUESS, y) for y in range(3)), (draw(1, 5), 3), (draw(2, 4), 0)],
        ),
        Kind(
            "a target that was hardly expected",
            "The loss has no upper end: -log p[y] = log(sum(exp(z))) - z[y], however small p[y] is.",
            [(np.array([700.0, 0.0, 1.0]), 1), (np.array([0.0, -705.0]), 1)],
            if_equal="An epsilon or a clip caps the loss (1e-12 added to p at 27.6). The exact form needs neither: "
            "log(sum) - z[y].",
        ),
    ],
    mistakes=[
        Mistake(lambda z, y: lmhead.log_softmax(z)[y], "The minus is missing: log p is negative, a cost is not."),
        Mistake(
            lambda z, y: -lmhead.log_softmax(z)[y] / np.log(2),
            "You use log2, which gives bits. The loss is in nats: np.log.",
        ),
        Mistake(lambda z, y: -lmhead.log_softmax(z)[y] / np.log(10), "You use log10. The loss is in nats: np.log."),
        Mistake(lambda z, y: lmhead.softmax(z)[y], "You return the probability p[y]. The loss is -log of it."),
        Mistake(lambda z, y: 1 - lmhead.softmax(z)[y], "You return 1 - p[y]. The loss is -log p[y], and has no bound."),
        Mistake(
            lambda z, y: -lmhead.log_softmax(z).max(),
            "You look at the highest logit. The cost is that of the target y, guessed right or not.",
        ),
        Mistake(
            lambda z, y: -lmhead.log_softmax(z)[y - 1],
            "You count tokens from 1. Ids start at 0, so that z[y - 1] is another token (for y = 0 the last).",
        ),
        Mistake(lambda z, y: -z[y], "You leave softmax out: -z[y] lacks the log of the sum, log(sum(exp(z)))."),
        Mistake(lambda z, y: lmhead.logsumexp(z), "You return the log of the sum alone. Subtract the target's z[y]."),
        Mistake(
            lambda z, y: -lmhead.log_softmax(z).sum(),
            "You add up over all tokens. Only the target's term counts: one-hot is 0 elsewhere.",
        ),
    ],
)


def cross_entropy(yours: Function) -> None:
    r"""Chapter 6, `cross_entropy(z, y) -> loss`: the cost of one position in nats.

    That is $-\log p_y = \log\sum_j e^{z_j} - z_y$. z is `[vocab]`, its logits between -705 and 700 (what happens beyond
    is chapter 8's), y a token id from 0.

    >>> cross_entropy(lambda z, y: -np.log2(np.exp(z[y]) / np.exp(z).sum()))
    Not yet: each token as the target (case 1 of 7).
      input     z = [2.0, 1.0, 0.1], y = 0
      got       0.6016
      expected  0.417
      Looks like: You use log2, which gives bits. The loss is in nats: np.log.
    >>> cross_entropy(lambda z, y: np.log(np.exp(z).sum()) - z[y])
    Right: all 7 cases pass.
    """
    run(yours, CROSS_ENTROPY)


def _excess(q: Array, z: Array) -> float:
    seen = q > 0
    return float((q[seen] * (np.log(q[seen]) - lmhead.log_softmax(z)[seen])).sum())


def _cross(q: Array, z: Array) -> float:
    return float(-(q * lmhead.log_softmax(z)).sum())


def _entropy(q: Array) -> float:
    return float(-(q[q > 0] * np.log(q[q > 0])).sum())


_OFTEN = np.array([0.5, 0.25, 0.25])

KL_DIVERGENCE = Exercise(
    right=lambda q, z: _excess(q, z),
    kinds=[
        Kind(
            "every word comes",
            "Sum q * (log q - log p) over the words: what is paid, less what has to be paid.",
            [
                (_OFTEN, _GUESS),
                (np.array([0.1, 0.2, 0.7]), _GUESS),
                (np.array([0.4, 0.3, 0.2, 0.1]), draw(3, 4)),
                (_OFTEN, np.log(_OFTEN)),
            ],
        ),
        Kind(
            "words that never come",
            "A word with frequency 0 costs nothing, but 0 * log 0 is nan: sum over the words with q > 0.",
            [(np.array([1.0, 0.0, 0.0]), _GUESS), (np.array([0.0, 0.5, 0.5]), np.array([-1.0, 2.0, 0.5]))],
        ),
    ],
    mistakes=[
        Mistake(
            lambda q, z: float((q * (np.log(q) - lmhead.log_softmax(z))).sum()),
            "0 * log 0 is nan: leave the words with frequency 0 out of the sum.",
        ),
        Mistake(lambda q, z: _cross(q, z), "You return the cross-entropy. Subtract the entropy of q."),
        Mistake(
            lambda q, z: _entropy(q), "You return the entropy of q, which must be paid. Asked is what comes on top."
        ),
        Mistake(
            lambda q, z: -_excess(q, z), "You lost a sign: no bet pays less than the truth, so it is never negative."
        ),
        Mistake(
            lambda q, z: float((lmhead.softmax(z) * (lmhead.log_softmax(z) - np.log(q + (q == 0)))).sum()),
            "You average with the bet. What is paid falls due as often as the words come: the weights are q.",
        ),
        Mistake(lambda q, z: _excess(q, z) / np.log(2), "You use log2, which gives bits. Nats need np.log."),
        Mistake(
            lambda q, z: _excess(q, z) / len(q), "You take the mean over the words. The weights q make it an average."
        ),
        Mistake(lambda q, z: _cross(q, z) + _entropy(q), "You add the entropy. What has to be paid is taken off."),
        Mistake(
            lambda q, z: float(-(q * z).sum() - _entropy(q)),
            "You leave softmax out: -z lacks the log of the sum, log(sum(exp(z))).",
        ),
        Mistake(
            lambda q, z: float(lmhead.cross_entropy(z, q.argmax()) - _entropy(q)),
            "You charge for the likeliest word alone. The others come too, and are paid for as often as they come.",
        ),
        Mistake(
            lambda q, z: float(np.abs(q - lmhead.softmax(z)).sum() / 2),
            "You compare the probabilities directly. Asked is a difference of prices, -log p.",
        ),
    ],
)


def kl_divergence(yours: Function) -> None:
    r"""Chapter 6, `kl_divergence(q, z) -> number`: what a bet pays on average beyond the entropy of the truth, in nats.

    That is $\sum_i q_i (\log q_i - \log p_i)$ with $p = \operatorname{softmax}(z)$, over the words with $q_i > 0$. q is
    `[vocab]` frequencies that sum to 1, z `[vocab]` logits.

    >>> kl_divergence(lambda q, z: (q * (np.log(q) - lmhead.log_softmax(z))).sum())
    Not yet: NaN, words that never come (case 5 of 6).
      input     q = [1.0, 0.0, 0.0], z = [2.0, 1.0, 0.1]
      got       nan
      expected  0.417
      Looks like: 0 * log 0 is nan: leave the words with frequency 0 out of the sum.
    >>> kl_divergence(lambda q, z: (q * np.log(np.where(q > 0, q, 1)) - q * lmhead.log_softmax(z)).sum())
    Right: all 6 cases pass.
    """
    run(yours, KL_DIVERGENCE)


def _losses(logits: Array, targets: Array) -> Array:
    """-log p of the targets, which index as NumPy does: from the end if negative."""
    return -np.take_along_axis(lmhead.log_softmax(logits), targets[..., None], axis=-1)[..., 0]


def _mean_over(logits: Array, targets: Array, counts: Array) -> float:
    return float(_losses(logits, np.where(counts, targets, 0))[counts].mean())


def _mean_of_row_means(logits: Array, targets: Array) -> float:
    rows = zip(np.atleast_2d(targets), logits.reshape(*np.atleast_2d(targets).shape, -1), strict=True)
    return float(np.mean([lmhead.cross_entropy(z, y) for y, z in rows]))


_PADDED = np.array([[1, 2, 0, 3], [2, -100, -100, -100]])

MASKED_MEAN = Exercise(
    right=lambda logits, targets: float(lmhead.cross_entropy(logits, targets)),
    kinds=[
        Kind(
            "one sequence",
            "The loss of a position is -log p[target]. Those whose target is -100 cost nothing, and are not counted in "
            "what you divide by.",
            [
                (draw(1, 2, 3), np.array([2, 1])),
                (draw(2, 3, 4), np.array([3, 0, 1])),
                (draw(3, 3, 3), np.array([2, -100, 1])),
                (draw(4, 4, 3), np.array([-100, 2, 1, -100])),
                (draw(5, 4, 3), np.array([1, 0, -100, 0])),
            ],
        ),
        Kind(
            "sequences of different lengths",
            "One mean over all tokens that count: a long sequence weighs more than a short one.",
            [(draw(6, 2, 4, 5), _PADDED), (draw(7, 2, 2, 3), np.array([[1, 0], [2, -100]]))],
        ),
        Kind(
            "a vocabulary above 100",
            "Here -100 is a legal index, counted from the end. Mask before you index, or index with 0 there.",
            [(draw(8, 2, 2, 120), np.array([[5, -100], [-100, 119]]))],
        ),
    ],
    mistakes=[
        Mistake(
            lambda logits, targets: lmhead.cross_entropy(logits, targets, reduction="sum") / targets.size,
            "You divide by all positions. Only those whose target is not ignore_index (-100) count.",
        ),
        Mistake(
            lambda logits, targets: _losses(
                logits * (targets != -100)[..., None], np.where(targets == -100, 0, targets)
            ).mean(),
            "You set the logits of ignored positions to 0: that is a uniform guess, and costs log V. Mask the losses.",
        ),
        Mistake(
            lambda logits, targets: _losses(logits, targets).mean(),
            "You index with -100: in a vocabulary above 100 it silently counts from the end. Mask these positions.",
        ),
        Mistake(
            lambda logits, targets: _losses(logits, np.where(targets == -100, -1, targets)).mean(),
            "Ignored positions wrap to the last token (-1) and are counted. They cost nothing.",
        ),
        Mistake(
            lambda logits, targets: _losses(logits, np.maximum(targets, 0)).mean(),
            "Ignored positions are scored on token 0. Indexing with 0 is fine, but leave these losses out after it.",
        ),
        Mistake(
            lambda logits, targets: _losses(logits, np.maximum(targets, 0)).sum() / (targets != -100).sum(),
            "Your sum still holds the ignored positions. You divide by the right count: mask the losses too.",
        ),
        Mistake(
            _mean_of_row_means,
            "You average each sequence's mean: a short one weighs as much as a long one. Take one mean over all.",
        ),
        Mistake(
            lambda logits, targets: lmhead.cross_entropy(logits, targets, reduction="sum"),
            "You return the sum. Divide by the number of positions that count.",
        ),
        Mistake(
            lambda logits, targets: _mean_over(logits, targets, targets > 0),
            "You drop targets of 0 too. 0 is a token: ignored is only -100.",
        ),
        Mistake(
            lambda logits, targets: -lmhead.cross_entropy(logits, targets),
            "The minus is missing: log p is negative, a cost is not.",
        ),
        Mistake(
            lambda logits, targets: lmhead.cross_entropy(logits, targets, reduction="none"),
            "You return each position's loss. Asked is one number, their mean.",
        ),
        Mistake(
            lambda logits, targets: lmhead.cross_entropy(logits, targets) / np.log(2),
            "You use log2, which gives bits. The loss is in nats: np.log.",
        ),
    ],
)


def masked_mean(yours: Function) -> None:
    r"""Chapter 7, `masked_mean(logits, targets) -> loss`: the mean of $-\log p_y$ over targets that are not -100.

    logits are `[..., vocab]`, targets `[...]`: one sequence, or a padded batch of them. No case ignores all targets.

    >>> def divides_by_all(logits, targets):
    ...     return lmhead.cross_entropy(logits, targets, reduction="sum") / targets.size
    >>> masked_mean(divides_by_all)
    Not yet: one sequence (case 3 of 8).
      input     logits = [[4.1, -5.1, 0.8], [-1.1, -0.9, -0.4], [-4.0, -0.5, -1.7]]
                targets = [2, -100, 1]
      got       1.2075
      expected  1.8113
      Looks like: You divide by all positions. Only those whose target is not ignore_index (-100)
      count.
    >>> def by_hand(logits, targets):
    ...     counts = targets != -100
    ...     log_p = lmhead.log_softmax(logits[counts])
    ...     return -log_p[np.arange(counts.sum()), targets[counts]].mean()
    >>> masked_mean(by_hand)
    Right: all 8 cases pass.
    """
    run(yours, MASKED_MEAN)


def _ends_with(targets: Array, last: int) -> Array:
    return np.append(targets[:-1], last)


CHAT_TARGETS = Exercise(
    right=lambda ids, is_answer: lmhead.shift_targets(ids, is_answer),
    kinds=[
        Kind(
            "answers after questions",
            "Position t predicts ids[t + 1]; it counts if that next token is part of the answer, else it is -100.",
            [
                (np.array([5, 6, 7, 8]), np.array([False, False, True, True])),
                (np.array([3, 1, 4, 1, 5]), np.array([False, False, False, True, True])),
                (np.array([2, 7, 1, 8, 9, 4]), np.array([False, True, True, False, False, True])),
            ],
        ),
        Kind(
            "an answer in front",
            "No position comes before the first token to predict it. The last position predicts nothing: -100.",
            [
                (np.array([9, 2, 6, 5]), np.array([True, True, False, False])),
                (np.array([4, 7]), np.array([True, True])),
            ],
        ),
        Kind(
            "no answer at all",
            "Nothing is to be predicted: -100 everywhere.",
            [(np.array([4, 5, 6]), np.zeros(3, bool))],
        ),
    ],
    mistakes=[
        Mistake(
            lambda ids, is_answer: lmhead.shift_targets(ids, is_answer, ignore_index=0),
            "You mask with 0, which is a token: the model would be trained to say it. The loss ignores -100 only.",
        ),
        Mistake(
            lambda ids, is_answer: lmhead.shift_targets(ids, is_answer, ignore_index=-1),
            "You mask with -1, which many loops read as the last token. The loss ignores -100 only.",
        ),
        Mistake(
            lambda ids, is_answer: np.where(is_answer, ids, -100),
            "You do not shift: each position would predict the token that it has just read. Its target is ids[t + 1].",
        ),
        Mistake(
            lambda ids, is_answer: np.where(is_answer, lmhead.shift_targets(ids), -100),
            "You shift the ids but not the mask. Position t counts if the token t + 1 is part of the answer.",
        ),
        Mistake(
            lambda ids, is_answer: np.where(np.roll(is_answer, -1), np.roll(ids, -1), -100),
            "np.roll brings the first token round to the last position, which has nothing to predict: -100 there.",
        ),
        Mistake(
            lambda ids, is_answer: lmhead.shift_targets(ids, is_answer)[:-1],
            "You cut off the last position. Keep the shape of ids, with -100 there.",
        ),
        Mistake(
            lambda ids, is_answer: _ends_with(lmhead.shift_targets(ids, is_answer), ids[-1]),
            "The last position keeps its own token. It has nothing to predict: -100.",
        ),
        Mistake(
            lambda ids, is_answer: _ends_with(lmhead.shift_targets(ids, is_answer), 0),
            "You fill the last position with 0, which is a token. It has nothing to predict: -100.",
        ),
        Mistake(
            lambda ids, is_answer: np.concatenate([[-100], np.where(is_answer, ids, -100)[:-1]]),
            "You shift the wrong way: position t gets the token before it. Its target is ids[t + 1].",
        ),
        Mistake(
            lambda ids, is_answer: lmhead.shift_targets(ids, ~is_answer),
            "Your mask is inverted: you train on the prompt. Only the answer counts.",
        ),
        Mistake(
            lambda ids, is_answer: lmhead.shift_targets(ids),
            "You leave the prompt in. Positions whose next token is not part of the answer are -100.",
        ),
    ],
)


def chat_targets(yours: Function) -> None:
    r"""Chapter 7, `chat_targets(ids, is_answer) -> targets`: shifted by one, with the prompt masked.

    That is $y_t = ids_{t+1}$ where that token is part of an answer, else -100. ids are token ids `[positions]`,
    is_answer bool `[positions]`; targets are integers `[positions]`, -100 at the end.

    >>> def zero_labels(ids, is_answer):
    ...     return np.append(np.where(is_answer[1:], ids[1:], 0), 0)
    >>> chat_targets(zero_labels)
    Not yet: answers after questions (case 1 of 6).
      input     ids = [5, 6, 7, 8], is_answer = [False, False, True, True]
      got       [0, 7, 8, 0]
      expected  [-100, 7, 8, -100]
      Looks like: You mask with 0, which is a token: the model would be trained to say it. The loss
      ignores -100 only.
    >>> def masked(ids, is_answer):
    ...     return np.append(np.where(is_answer[1:], ids[1:], -100), -100)
    >>> chat_targets(masked)
    Right: all 6 cases pass.
    """
    run(yours, CHAT_TARGETS)
