"""A target that is ignored, whichever integer stands for it and whatever its row holds."""

from __future__ import annotations

from tools.faults.mutant import Mutant

LOSS = "lmhead/loss.py"
ARGUMENTS = "lmhead/_arguments.py"
STREAMING = "lmhead/streaming.py"
SHARDED = "lmhead/sharded.py"
T_SHARDED = "tests/package/test_sharded.py"
T_LOSS = "tests/package/test_loss.py"
T_STREAMING = "tests/package/test_streaming.py"
T_ALL = "tests/package/test_ignored.py"

FAULTS = [
    Mutant("grad: ignored rows in dW_U", LOSS, "h.shape[-1])[y.positions]", "h.shape[-1])[: len(y.ids)]", T_LOSS),
    Mutant("arguments: mask dropped", ARGUMENTS, "counts = ids != ignored", "counts = ids == ids", T_LOSS),
    Mutant("ignored: every negative target is", ARGUMENTS, "counts = ids != ignored", "counts = (ids != ignored) & (ids >= 0)", f"{T_LOSS} -k errors"),
    Mutant("ignored: -100 alone", ARGUMENTS, "counts = ids != ignored", "counts = ids != -100", f"{T_LOSS} -k ignore"),
    Mutant("ignored: the first rows hold what counts", ARGUMENTS, "values[self.positions] = counted", "values[: len(counted)] = counted", f"{T_LOSS} -k ignored"),
    Mutant("ignored: divided by all", ARGUMENTS, "            return len(self.ids)\n", "            return math.prod(self.lead)\n", f"{T_LOSS} -k ignored"),
    Mutant("ignored: the head's gradients know -100 alone", LOSS, "W_U.shape[1], ignore_index)\n    rows", "W_U.shape[1], -100)\n    rows", f"{T_LOSS} -k ignored_row"),
    Mutant("ignored: a NaN in such a row is an error", LOSS, "    if len(y.ids) < len(rows):", "    arguments.reject_bad_rows(rows, y.lead)\n    if len(y.ids) < len(rows):", f"{T_LOSS} -k ignored_row"),
    Mutant("ignored: a mask puts -100", LOSS, "[~wanted[..., 1:]] = ignored", "[~wanted[..., 1:]] = -100", f"{T_LOSS} -k not_predicted"),
    Mutant("ignored: the last position holds -100", LOSS, "np.full(ids.shape, ignored, np.int64)", "np.full(ids.shape, -100, np.int64)", f"{T_LOSS} -k shift"),
    Mutant("ignored: streaming takes the first rows", STREAMING, "else rows[y.positions])", "else rows[: len(y.ids)])", f"{T_STREAMING} -k not_looked_at"),
    Mutant("ignored: streaming knows -100 alone", STREAMING, "W_U.shape[1], ignore_index), arguments", "W_U.shape[1], -100), arguments", f"{T_STREAMING} -k not_looked_at"),
    Mutant("ignored: streaming computes such a row all the same", STREAMING, "    rows = h.reshape(-1, len(W_U))\n", "    rows = h.reshape(-1, len(W_U))\n    arguments.reject_bad_rows(rows, y.lead)\n", f"{T_STREAMING} -k not_looked_at"),
    Mutant("ignored: a shard scores such a row", SHARDED, "rows = y.in_place(h.reshape(-1, len(W))[y.positions]).reshape(-1, len(W))", "rows = h.reshape(-1, len(W))", f"{T_SHARDED} -k ignored"),
    Mutant("ignored: the shards' loss knows -100 alone", SHARDED, "np.shape(targets), 2**62, ignore_index)", "np.shape(targets), 2**62, -100)", f"{T_SHARDED} -k ignored"),
    Mutant("ignored: an error counts the positions that count", LOSS, "    arguments.reject_bad_rows(z, y.lead, y.positions)\n    G = _gradient(", "    arguments.reject_bad_rows(z, y.lead)\n    G = _gradient(", f"{T_ALL} -k names_the_position"),
    Mutant("ignored: so does a missing shard's", SHARDED, "f\"position {y.positions[n]}: {what}; is a shard missing?\"", "f\"position {n}: {what}; is a shard missing?\"", f"{T_ALL} -k missing_shard"),
    Mutant("ignored: one such position, and all is float64", ARGUMENTS, "*values.shape[1:]), values.dtype)", "*values.shape[1:]))", f"{T_ALL} -k type"),
    Mutant("ignored: -100 as eight bits is 156", ARGUMENTS, "    counts = ids != ignored\n", "    counts = ids != np.asarray(ignored).astype(ids.dtype)\n", f"{T_ALL} -k integer_type"),
    Mutant("ignored: the error says -100 whatever it is", ARGUMENTS, "ignore_index ({self.ignore_index})", "ignore_index (-100)", f"{T_ALL} -k mean_over_none"),
]  # fmt: skip
