"""Promises of a docstring, each of them held by the tests of that module."""

from __future__ import annotations

from tools.faults.mutant import Mutant

LOSS = "lmhead/loss.py"
DECODING = "lmhead/decoding.py"
STREAMING = "lmhead/streaming.py"
T_LOSS = "tests/package/test_loss.py"
T_DECODING = "tests/package/test_decoding.py"
T_STREAMING = "tests/package/test_streaming.py"

FAULTS = [
    Mutant("promise: greedy gives int64", DECODING, "argmax(axis=-1).astype(np.int64)\n\n\ndef top_k", "argmax(axis=-1).astype(np.int32)\n\n\ndef top_k", f"{T_DECODING} -k shapes"),
    Mutant("promise: top-p of 1 keeps every token", DECODING, "    if mass == 1:", "    if mass == 2:", f"{T_DECODING} -k top_p"),
    Mutant("promise: top-p adds up in float64", DECODING, "softmax(z.astype(np.float64)), order", "softmax(z), order", f"{T_DECODING} -k float64"),
    Mutant("promise: min-p of 0 keeps every token", DECODING, "keepdims=True)) >= p\n", "keepdims=True)) >= max(float(p), 1e-300)\n", f"{T_DECODING} -k min_p"),
    Mutant("promise: min-p keeps the bar itself", DECODING, "keepdims=True)) >= p\n", "keepdims=True)) > p\n", f"{T_DECODING} -k min_p"),
    Mutant("promise: a top-k of 0 is an error", DECODING, "if not 1 <= n <= z.shape[-1]:", "if not 0 <= n <= z.shape[-1]:", f"{T_DECODING} -k errors"),
    Mutant("promise: a draw never takes a token that was cut", DECODING, "(cdf <= u * cdf[..., -1:])", "(cdf < u * cdf[..., -1:])", f"{T_DECODING} -k ends_of_the_unit"),
    Mutant("promise: logits are not modified", DECODING, "_as_valid_logits(logits).astype(np.float64), as_temp", "_as_valid_logits(logits).astype(np.float64, copy=False), as_temp", f"{T_DECODING} -k untouched"),
    Mutant("promise: a negative loss is an error", LOSS, "    _as_nats(float(nats.min(initial=0.0)))", "    float(nats.min(initial=0.0))", f"{T_LOSS} -k errors"),
    Mutant("promise: no bytes are an error", LOSS, "    if n <= 0:", "    if n < 0:", f"{T_LOSS} -k errors"),
    Mutant("promise: a mean of losses near the end of float64", LOSS, "return total / divisor if np.isfinite(total) else", "return total / divisor if True else", T_LOSS),
    Mutant("promise: a loss has the precision of its logits", LOSS, "y.in_place(losses.astype(z.dtype))", "y.in_place(losses)", T_LOSS),
    Mutant("promise: a chunk may be masked as a whole", STREAMING, "np.flatnonzero(~np.isneginf(rows).all(axis=-1))", "np.arange(len(rows))", f"{T_STREAMING} -k summar"),
    Mutant("promise: states merge two by two", STREAMING, "while waiting and waiting[-1][0] == size:", "while waiting:", T_STREAMING),
    Mutant("promise: dW_U lies in memory as W_U does", STREAMING, "np.empty_like(head.W_U, head.dtype, subok=False)", "np.empty(head.W_U.shape, head.dtype)", f"{T_STREAMING} -k tied"),
    Mutant("promise: an id below 0 is an error", LOSS, "        if not 0 <= end < vocab_size:", "        if not end < vocab_size:", f"{T_LOSS} -k errors"),
    Mutant("promise: bytes become characters", LOSS, "that was scored, in UTF-8 bytes.", "that was scored, in characters.", "tests/book/test_pinned.py -k as_pinned[modules"),
    Mutant("encode: no letters give no ids but floats", "lmhead/names.py", " for letter in text], np.int64)", " for letter in text])", "tests/package/test_names.py"),
    Mutant("shares of writes: one scale for all positions", "lmhead/smollm/model.py", "np.square(writes.sum(axis=0)), axis=-1) + eps)", "np.square(writes.sum(axis=0))) + eps)", "tests/package/test_smollm.py -k several_positions"),
    Mutant("min-p: takes NaN", "lmhead/decoding.py", "    z = _as_valid_logits(logits)\n    if not 0 <= as_number(p, \"min_p\")", "    z = as_logits(logits)\n    if not 0 <= as_number(p, \"min_p\")", "tests/package/test_arguments.py -k row_that"),
    Mutant("fetch: pip also asks for what the wheel requires", "lmhead/fetch.py", "\"download\", \"--no-deps\", \"--only", "\"download\", \"--only", "tests/package/test_fetch.py -k pip_is_asked"),
]  # fmt: skip
