"""Make lmhead/data/smollm2.npz, the real model's fixture, from the real model: `python tools/make_fixture.py`.

What is rounded, and why: hidden states and log-sum-exps are kept as float64, to the multiples of a small step. It is
finer than 10 decimals of a loss need, and coarser than what two CPUs disagree on (2.5e-11 in x at the first position,
where the model parks its largest numbers), so that every machine makes the same file to within one step. Columns of the
head keep the model's own 8 bits and are exact.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gguf import GGUFReader

from lmhead import logsumexp
from lmhead.smollm.model import SmolLM, fetch_model, read_gguf

ROOT = Path(__file__).parents[1]
OUT = ROOT / "lmhead/data/smollm2.npz"
X_STEP = 2.0**-34  # 5.8e-11, of numbers of size 20 to 400
LSE_STEP = 2.0**-36  # 1.5e-11, of numbers of size 15

# The paragraph opens "Pride and Prejudice" (Jane Austen, 1813; public domain).
PARAGRAPH = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a "
    "wife.\n\nHowever little known the feelings or views of such a man may be on his first entering a neighbourhood, "
    "this truth is so well fixed in the minds of the surrounding families, that he is considered as the rightful "
    "property of some one or other of their daughters."
)

# The model's own chat template, its default system prompt included.
CHAT_PROMPT = """\
<|im_start|>system
You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>
<|im_start|>user
What is the capital of France?<|im_end|>
<|im_start|>assistant
"""
CHAT_ANSWER = "The capital of France is Paris.<|im_end|>"
CHAT = CHAT_PROMPT + CHAT_ANSWER + "\n"

SHORT = [
    "The cat sat on the",
    "She put the flowers in the",  # ends as the first does; and its top token has not the best cosine
    "The capital of France is",
    "The capital of Japan is",
    "Once upon a time",
    "2 + 2 =",
]
TEXTS = {text: text for text in SHORT} | {"paragraph": PARAGRAPH, "chat": CHAT}

WORDS = [
    " mat",
    " dog",
    " cat",
    " the",
    " Paris",
    " Tokyo",
    " London",
    " Rome",
    " king",
    " queen",
    " man",
    " woman",
    " fish",
]

KINDS = {
    "word": [" cat", " truth"],
    "sub-word": ["ization", "ing", "un"],
    "punctuation": [",", ".", "?"],
    "space": [" ", "  ", "\n"],
    "digit": ["2", "4", "7"],
    "part of a character": [r"\xe6\x97", r"\xa5"],  # the two tokens that spell one Chinese character
    "special": ["<|im_start|>", "<|im_end|>", "<|endoftext|>"],
}


def build(model: SmolLM, gguf: Path) -> dict[str, npt.NDArray[Any]]:
    """The arrays of the fixture's file, by name."""
    encode, token = model.tokenizer.encode, model.tokenizer.token
    norms = np.linalg.norm(model.E, axis=1)  # [vocab_size]
    ids = {name: encode(text) for name, text in TEXTS.items()}
    x = {name: model.hidden_states(ids[name])[-1] for name in TEXTS}
    logits = {name: model.final_norm(x[name]) @ model.W_U for name in TEXTS}

    by_text = {token(i): i for i in range(model.config.vocab_size)}
    kinds = {kind: [by_text[text] for text in texts] for kind, texts in KINDS.items()}
    shown = {by_text[word] for word in WORDS}.union(*kinds.values())
    shown.update(norms.argsort()[:10], norms.argsort()[-10:])  # the shortest and the longest columns
    for name in TEXTS:
        shown.update(ids[name], logits[name].argmax(axis=1))
    for name in SHORT:
        z = logits[name][-1]
        h = model.final_norm(x[name][-1])
        shown.update((-z).argsort()[:20])
        shown.update((-z / norms).argsort()[:5])  # the best cosines
        shown.update((norms**2 - 2 * z + h @ h).argsort()[:5])  # the nearest rows of E
    stored = np.array(sorted(int(i) for i in shown))

    blocks = _q8_0_rows(gguf)[stored]  # [n, d_model / 32] of (scale, 32 numbers)
    arrays: dict[str, npt.NDArray[Any]] = {
        "ids": stored.astype(np.uint16),
        "tokens": np.array([token(i) for i in stored]),
        "q": blocks["q"],
        "scale": blocks["scale"],
        "gain": model.weights["output_norm.weight"].astype(np.float32),
        "eps": np.array(model.config.norm_eps),
        "column_norms": norms.astype(np.float16),
        "names": np.array(list(TEXTS)),
        "texts": np.array(list(TEXTS.values())),
        "kinds": np.array(list(KINDS)),
    }
    for kind, members in kinds.items():
        arrays[f"kind.{kind}"] = np.searchsorted(stored, members)
    for number, name in enumerate(TEXTS):
        rest = logits[name].copy()
        rest[:, stored] = -np.inf
        scored = np.ones(len(ids[name]), dtype=bool)
        if name == "chat":
            begin = len(encode(CHAT_PROMPT))
            scored[:] = False
            scored[begin : begin + len(encode(CHAT_ANSWER))] = True
        arrays[f"{number}.ids"] = ids[name].astype(np.uint16)
        arrays[f"{number}.x"] = _to_multiples(x[name], X_STEP)
        arrays[f"{number}.lse_rest"] = _to_multiples(logsumexp(rest), LSE_STEP)
        arrays[f"{number}.scored"] = scored
        if name in SHORT:
            z = np.sort(logits[name][-1])[::-1]
            bits = (-(z[0] - z)).astype(np.float16).view(np.uint16)  # from -0.0 on, a rising sequence
            arrays[f"{number}.steps"] = np.diff(bits, prepend=np.uint16(0))
    return arrays


def _to_multiples(numbers: npt.NDArray[np.float64], step: float) -> npt.NDArray[np.float64]:
    return np.rint(numbers / step) * step


def _q8_0_rows(gguf: Path) -> npt.NDArray[np.void]:
    """The embedding table as it is in the file: `[vocab_size, d_model / 32]` blocks of one float16 and 32 int8."""
    table = next(t for t in GGUFReader(gguf).tensors if t.name == "token_embd.weight")
    return table.data.view([("scale", "<f2"), ("q", "i1", 32)])


def save(arrays: dict[str, npt.NDArray[Any]], path: Path) -> None:
    """Write the file. NumPy stamps no time in it, so equal arrays give equal bytes."""
    np.savez_compressed(path, **arrays)


if __name__ == "__main__":
    gguf = fetch_model()
    save(build(read_gguf(gguf), gguf), OUT)
    print(f"{OUT.relative_to(ROOT)}: {OUT.stat().st_size:,} bytes")
