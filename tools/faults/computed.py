"""What lmhead computes, in Python and in the browser, and what its command line and its download do."""

from __future__ import annotations

from tools.faults.mutant import Mutant

HEAD = "lmhead/head.py"
PROBABILITIES = "lmhead/probabilities.py"
LOSS = "lmhead/loss.py"
DECODING = "lmhead/decoding.py"
ARGUMENTS = "lmhead/_arguments.py"
STREAMING = "lmhead/streaming.py"
EXACT = "lmhead/_exact.py"
T_ARGUMENTS = "tests/package/test_arguments.py"
JS = "lmhead/widgets/arithmetic.js"
T_HEAD = "tests/package/test_head.py"
T_LOSS = "tests/package/test_loss.py"
T_DECODING = "tests/package/test_decoding.py"
T_ACCURACY = "tests/package/test_accuracy.py"
T_STREAMING = "tests/package/test_streaming.py"
T_WIDGETS = "tests/package/test_widgets.py"
T_FIXTURE = "tests/package/test_fixture.py"
CLI = "lmhead/__main__.py"
T_CLI = "tests/package/test_cli.py"
FETCH = "lmhead/fetch.py"
T_FETCH = "tests/package/test_fetch.py"
MAPPED = "lmhead/smollm/mapped.py"
T_MAPPED = "tests/package/test_mapped.py"


def flip_a_byte(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


FAULTS = [
    # the head
    Mutant("head: bias forgotten", HEAD, "else logits + b", "else logits", T_HEAD),
    Mutant("head: tied by a copy", HEAD, "return E.T", "return E.T.copy()", T_HEAD),
    Mutant("head: transposed matrix not recognised", ARGUMENTS, "if d_model != given == vocab_size:", "if False:", T_HEAD),
    # softmax
    Mutant("softmax: no max shift", PROBABILITIES, "wide, top[:, None], temperature", "wide, 0 * top[:, None], temperature", T_LOSS),
    Mutant("softmax: temperature inverted", EXACT, "quotient = gap / t", "quotient = gap * t", T_DECODING),
    Mutant("softmax: float32 sums", PROBABILITIES, "weight.sum(axis=1)", "weight.sum(axis=1, dtype=np.float32)", T_ACCURACY),
    Mutant("softmax: gap rounded", PROBABILITIES, "weight += weight * slip", "weight += 0.0", T_ACCURACY),
    Mutant("softmax: winner in the rest", PROBABILITIES, "weight[row, winner] = 0.0", "weight[row, winner] = 1.0", T_LOSS),
    Mutant("softmax: axes swapped, not moved", PROBABILITIES, "np.moveaxis(array, axis, -1)", "array.swapaxes(axis, -1)", T_ACCURACY),
    Mutant("softmax: normalised by the others", PROBABILITIES, "weight / (1.0 + row.rest)", "weight / (row.rest)", T_LOSS),
    Mutant("logsumexp: temperature forgotten", PROBABILITIES, "row.top / t", "row.top", T_ACCURACY),
    Mutant("log_softmax: log instead of log1p", PROBABILITIES, "np.log1p(row.rest)[:, None]", "np.log(row.rest)[:, None]", T_ACCURACY),
    # the loss
    Mutant("loss: sign", LOSS, "np.log1p(row.rest) - row.gap", "np.log1p(row.rest) + row.gap", T_LOSS),
    Mutant("loss: log instead of log1p", LOSS, "np.log1p(row.rest) -", "np.log(1 + row.rest) -", T_ACCURACY),
    Mutant("loss: bits for nats", LOSS, "np.log1p(row.rest) - row.gap", "np.log1p(row.rest) / np.log(2) - row.gap", T_LOSS),
    Mutant("loss: mean over all positions", LOSS, "losses.sum(), targets.divisor(reduction)", "losses.sum(), math.prod(targets.lead)", T_LOSS),
    Mutant("loss: sum for mean", LOSS, "return total / divisor", "return total", T_LOSS),
    Mutant("grad: plus one", LOSS, "p[n, y] - 1.0", "p[n, y] + 1.0", T_LOSS),
    Mutant("grad: p - 1 near 1", LOSS, "-row.rest / total[:, 0]", "p[n, y] - 1.0 + 0", T_ACCURACY),
    Mutant("grad: not divided by N", LOSS, "= p / divisor", "= p", T_LOSS),
    Mutant("grad: transposed", LOSS, "sum_of_products(G.T, W_U.T, out=dh)", "sum_of_products(G.T, W_U.T[::-1], out=dh)", T_LOSS),
    Mutant("tied grad: input use lost", LOSS, "dE[read[once]] += ", "dE[read[once]] += 0 * ", T_LOSS),
    Mutant("tied grad: head use lost", LOSS, "dE = dW_U.T.astype(", "dE = 0 * dW_U.T.astype(", T_LOSS),
    Mutant("tied grad: repeated ids", LOSS, "start : start + n]].sum(axis=0, dtype", "start : start + 1]].sum(axis=0, dtype", T_LOSS),
    Mutant("shift: the other way", LOSS, "targets[..., :-1] = ids[..., 1:]", "targets[..., 1:] = ids[..., :-1]", T_LOSS),
    Mutant("shift: mask not shifted", LOSS, "~wanted[..., 1:]", "~wanted[..., :-1]", T_LOSS),
    Mutant("perplexity: base 2", LOSS, "np.exp(nats)", "np.exp2(nats)", T_LOSS),
    Mutant("bits per byte: nats", LOSS, "n * math.log(2.0)", "n", T_LOSS),
    # arguments
    Mutant("arguments: +inf let through", ARGUMENTS, "~np.isfinite(z.max(", "np.isnan(z.max(", T_LOSS),
    Mutant("arguments: negative target wraps", ARGUMENTS, "(ids < 0) | (ids >= vocab_size)", "(ids >= vocab_size)", T_LOSS),
    Mutant("arguments: float targets", ARGUMENTS, 'if ids.dtype.kind not in "iu" and ids.size:', "if False:", T_LOSS),
    Mutant("arguments: empty mean is nan", ARGUMENTS, "if len(self.ids):", "if True:", T_LOSS),
    Mutant("arguments: float16 kept", ARGUMENTS, "np.result_type(np.float32, *(", "np.result_type(*(", T_ACCURACY),
    # decoding
    Mutant("greedy: smallest", DECODING, "return _as_valid_logits(logits).argmax(", "return _as_valid_logits(logits).argmin(", T_DECODING),
    Mutant("top-k: one too many", DECODING, "_by_rank(z)[..., :n]", "_by_rank(z)[..., : n + 1]", T_DECODING),
    Mutant("top-p: one too many", DECODING, "before < mass, axis", "before <= mass, axis", T_DECODING),
    Mutant("top-p: crossing token dropped", DECODING, "np.cumsum(ranked[..., :-1], axis=-1, out=before[..., 1:])", "np.cumsum(ranked, axis=-1, out=before)", T_DECODING),
    Mutant("ranks: ties by the higher id", DECODING, 'np.argsort(-z, axis=-1, kind="stable")', "np.argsort(z, axis=-1, kind='stable')[..., ::-1]", T_DECODING),
    Mutant("sample: temperature forgotten", DECODING, "    z = _tempered(logits, temperature)\n    if top_k", "    z = _tempered(logits, 1.0)\n    if top_k", T_DECODING),
    Mutant("gumbel: sign", DECODING, "z + rng.gumbel", "z - rng.gumbel", T_DECODING),
    # streaming
    Mutant("streaming: merge without rescaling", STREAMING, "(1.0 + low_rest) * _exp_gap(low_top, top))", "(1.0 + low_rest))", T_STREAMING),
    Mutant("streaming: only the last chunk in dh", STREAMING, "dh += sum_of", "dh[:] = sum_of", T_STREAMING),
    Mutant("streaming: target's gradient", STREAMING, "np.expm1(-known", "np.exp(-known", T_STREAMING),
    Mutant("streaming: bias gradient of one row", STREAMING, "G.sum(axis=0, dtype=np.float64)", "G[0]", T_STREAMING),
    Mutant("streaming: winner twice in the sum", STREAMING, "z[each, winner] = -np.inf", "pass", T_STREAMING),
    Mutant("streaming: gradient of the sum for that of the mean", STREAMING, "share = 1.0 / (divisor", "share = 1.0 / (1", T_STREAMING),
    Mutant("streaming: others' rows forgotten", STREAMING, "y, noted, others)", "y, noted, noted)", T_STREAMING),
    Mutant("streaming: gap rounded", STREAMING, "ratio + ratio * slip", "ratio", T_STREAMING),
    Mutant("streaming: a position's bias gradient in float32", STREAMING, "G.sum(axis=0, dtype=np.float64)", "G.sum(axis=0)", T_STREAMING),
    # long sums, and arguments used as they were converted
    Mutant("exact: one by one in float32", EXACT, "if out.size < _SMALL or 1 in out.shape else", "if False else", T_LOSS),
    Mutant("exact: only the first block", EXACT, "wide += np.matmul", "0 * np.matmul", T_LOSS),
    Mutant("grad: bias added up in float32", LOSS, "G.sum(axis=0, dtype=np.float64)", "G.sum(axis=0)", T_LOSS),
    Mutant("tied grad: float32", LOSS, ".sum(axis=0, dtype=np.float64)\n    return dE", ".sum(axis=0)\n    return dE", T_LOSS),
    Mutant("arguments: a mask lost", ARGUMENTS, "    if _is_masked(x):", "    if False:", T_ARGUMENTS),
    Mutant("arguments: a tensor's own arithmetic", LOSS, "total / (n * ", "total / (n_bytes * ", T_ARGUMENTS),
    Mutant("warnings: underflow is an error", ARGUMENTS, 'under="ignore", invalid', 'invalid', T_ARGUMENTS),
    # the command line, the download, the quick checks
    Mutant("command: the longest prompt refused", CLI, "if len(ids) > model.config", "if len(ids) >= model.config", T_CLI),
    Mutant("command: notice among the answers", CLI, "a while ...\", file=sys.stderr)", "a while ...\")", T_CLI),
    Mutant("download: goes on after Ctrl-C", FETCH, "            process.kill()\n            process.wait()\n", "", T_FETCH),
    Mutant("streaming: the chunk of who gives none is the vocabulary", STREAMING, "CHUNK = 2048  #", "CHUNK = 2**16  #", f"{T_STREAMING} -k no_chunk"),
    Mutant("command: a long prompt in one go", CLI, "ids: np.ndarray, rows: int = 256)", "ids: np.ndarray, rows: int = 8192)", f"{T_CLI} -k long_prompt"),
    Mutant("command: ended by a signal without its clean-up", CLI, "    sys.exit(128 + number)", "    os._exit(128 + number)", f"{T_CLI} -k signal"),
    Mutant("download: a broken line not known", FETCH, '"Read timed out", ', "", T_FETCH),
    Mutant("mapped: whole by its size alone", MAPPED, "return digest.digest() == content[n_bytes:].tobytes()", "return True", T_MAPPED),
    Mutant("mapped: another model's weights", MAPPED, "source = sha256_of(gguf).encode()", 'source = b""', T_MAPPED),
    # the browser's code
    Mutant("browser: no max shift", JS, "Math.exp(logits[j] - logits[winner])", "Math.exp(logits[j])", T_WIDGETS),
    Mutant("browser: temperature inverted", JS, "(z - largest) / temperature", "(z - largest) * temperature", T_WIDGETS),
    Mutant("browser: top-p one too many", JS, "before < topP", "before <= topP", T_WIDGETS),
    Mutant("browser: p - 1 near 1", JS, "? -rest / (1 + rest) :", "? grad[target] - 1 :", T_WIDGETS),
    Mutant("browser: half rounds too far", "lmhead/widgets/overflow.js", "65520)) return size >= 65520", "65504)) return size >= 65504", T_WIDGETS),
    Mutant("browser: ties by the higher id", JS, "logits[b] - logits[a] || a - b", "logits[b] - logits[a] || b - a", T_WIDGETS),
    Mutant("browser: log for log1p", JS, "Math.log1p(rest)", "Math.log(1 + rest)", T_WIDGETS),
    Mutant("a number: from ten million on", "lmhead/widgets/_write.py", "abs(x) >= 1e6", "abs(x) >= 1e7", T_WIDGETS),
    # the real model
    Mutant("fixture: one byte", "lmhead/data/smollm2.npz", flip_a_byte, "", f"{T_FIXTURE} -k equal_arrays"),
]  # fmt: skip
