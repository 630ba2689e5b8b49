"""Make lmhead/data/smollm2.npz, the real model's fixture, from the real model: `python tools/make_fixture.py`.

What is rounded, and why: hidden states, log-sum-exps, losses and shares are kept to the multiples of a small step. It
is finer than 10 decimals of a loss need, and coarser than what two CPUs disagree on (2.5e-11 in x at the first
position, where the model parks its largest numbers), so that every machine makes the same file to within one step.
Columns of the head keep the model's own 8 bits and are exact.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gguf import GGUFReader

from lmhead import cross_entropy, logsumexp
from lmhead.smollm.fixture import X_STEP
from lmhead.smollm.model import SmolLM, fetch_model, gap_shares, read_gguf
from lmhead.smollm.tokenizer import STARTS

ROOT = Path(__file__).parents[1]
OUT = ROOT / "lmhead/data/smollm2.npz"
STEP = 2.0**-36  # 1.5e-11, of log-sum-exps, losses and shares, which are of size 15

# The paragraph opens "Pride and Prejudice" (Jane Austen, 1813; public domain).
PARAGRAPH = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a "
    "wife.\n\nHowever little known the feelings or views of such a man may be on his first entering a neighbourhood, "
    "this truth is so well fixed in the minds of the surrounding families, that he is considered as the rightful "
    "property of some one or other of their daughters."
)

CHAT_PROMPT = STARTS["chat"] + "What is the capital of France?<|im_end|>\n<|im_start|>assistant\n"
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

# What is stored: the states of the short prompts with every start, of the long ones with nothing before them, and the
# paragraph's losses with every start. The chat has its own start.
WHOLE = [(name, start) for start in STARTS for name in SHORT] + [("paragraph", "none"), ("chat", "none")]
ALL = [*WHOLE, ("paragraph", "text"), ("paragraph", "chat")]

# Whose share of which gap is stored: of the likely answers, and of some that another start makes likely.
PAIRS = {
    "The cat sat on the": [(" mat", " cat"), (" mat", " edge"), (" cat", " moon")],
    "She put the flowers in the": [(" vase", " pot"), (" vase", " basket")],
    "The capital of France is": [(" Paris", " the"), (" Paris", " London"), (" Paris", " Tokyo")],
    "The capital of Japan is": [(" Tokyo", " the"), (" Tokyo", " Paris")],
    "Once upon a time": [(",", " in")],
    "2 + 2 =": [(" ", " -")],
}

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
    rows: dict[bytes, int] = {}  # a state depends on the tokens up to it, so texts that begin alike share it
    x_of_row: list[npt.NDArray[np.float64]] = []
    ids, x, at, logits, losses = {}, {}, {}, {}, {}
    shares: dict[Any, Any] = {}
    for key in ALL:
        name, start = key
        text = TEXTS[name]
        whole = encode(text, start)
        before = model.tokenizer.count_before(text, start)
        kept = slice(max(before - 1, 0), None)  # the last token before the text, and the text
        writes = model.writes(whole)[:, kept]
        ids[key], x[key] = whole[kept], writes.sum(axis=0)
        logits[key] = model.final_norm(x[key]) @ model.W_U
        losses[key] = cross_entropy(logits[key][:-1], ids[key][1:], reduction="none")
        for a, b in PAIRS.get(name, []):
            direction = model.W_U[:, model.tokenizer.id(a)] - model.W_U[:, model.tokenizer.id(b)]
            gain, eps = model.weights["output_norm.weight"], model.config.norm_eps
            shares.setdefault(key, []).append(gap_shares(writes[:, -1], direction, gain, eps))
        if key in WHOLE:
            prefixes = [whole[: kept.start + t + 1].tobytes() for t in range(len(ids[key]))]
            for prefix, state in zip(prefixes, x[key], strict=True):
                if prefix not in rows:
                    rows[prefix] = len(x_of_row)
                    x_of_row.append(state)
            at[key] = [rows[prefix] for prefix in prefixes]

    by_text = {token(i): i for i in range(model.config.vocab_size)}
    kinds = {kind: [by_text[text] for text in texts] for kind, texts in KINDS.items()}
    shown = {by_text[word] for word in WORDS}.union(*kinds.values())
    shown.update(by_text[word] for pairs in PAIRS.values() for pair in pairs for word in pair)
    shown.update(norms.argsort()[:10], norms.argsort()[-10:])  # the shortest and the longest columns
    for key in WHOLE:
        shown.update(ids[key], logits[key].argmax(axis=1))
        if key[0] in SHORT:
            z = logits[key][-1]
            h = model.final_norm(x[key][-1])
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
        "n_layers": np.array(model.config.n_layers),
        "column_norms": norms.astype(np.float16),
        "x": _bytes_of(np.array(x_of_row)),
        "names": np.array([name for name, _ in ALL]),
        "starts": np.array([start for _, start in ALL]),
        "texts": np.array([TEXTS[name] for name, _ in ALL]),
        "kinds": np.array(list(KINDS)),
    }
    for kind, members in kinds.items():
        arrays[f"kind.{kind}"] = np.searchsorted(stored, members)
    for number, key in enumerate(ALL):
        arrays[f"{number}.losses"] = _to_multiples(losses[key], STEP)
        if key not in WHOLE:
            continue
        name, _ = key
        rest = logits[key].copy()
        rest[:, stored] = -np.inf
        scored = np.ones(len(ids[key]), dtype=bool)
        if name == "chat":
            begin = len(encode(CHAT_PROMPT))
            scored[:] = False
            scored[begin : begin + len(encode(CHAT_ANSWER))] = True
        arrays[f"{number}.ids"] = ids[key].astype(np.uint16)
        arrays[f"{number}.rows"] = np.array(at[key], dtype=np.uint16)
        arrays[f"{number}.lse_rest"] = _to_multiples(logsumexp(rest), STEP)
        arrays[f"{number}.scored"] = scored
        if name in SHORT:
            z = np.sort(logits[key][-1])[::-1]
            bits = (-(z[0] - z)).astype(np.float16).view(np.uint16)  # from -0.0 on, a rising sequence
            arrays[f"{number}.steps"] = np.diff(bits, prepend=np.uint16(0))
            pairs = [[by_text[word] for word in pair] for pair in PAIRS[name]]
            arrays[f"{number}.pairs"] = np.searchsorted(stored, pairs)
            arrays[f"{number}.shares"] = _to_multiples(np.array(shares[key]), STEP)
    return arrays


def _to_multiples(numbers: npt.NDArray[np.float64], step: float) -> npt.NDArray[np.float64]:
    return np.rint(numbers / step) * step


def _bytes_of(x: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    """What `fixture._x` undoes: x in steps, as unsigned integers, byte by byte. Upper bytes are mostly 0, and pack."""
    steps = np.rint(x / X_STEP).astype(np.int64)
    unsigned = (steps << 1) ^ (steps >> 63)  # 0, -1, 1, -2, 2, ... become 0, 1, 2, 3, 4, ...
    planes = [(unsigned >> (8 * i) & 0xFF).astype(np.uint8) for i in range(8)]
    return np.array([plane for plane in planes if plane.any()])


def _q8_0_rows(gguf: Path) -> npt.NDArray[np.void]:
    """The embedding table as it is in the file: `[vocab_size, d_model / 32]` blocks of one float16 and 32 int8."""
    table = next(t for t in GGUFReader(gguf).tensors if t.name == "token_embd.weight")
    return table.data.view([("scale", "<f2"), ("q", "i1", 32)])


def save(arrays: dict[str, npt.NDArray[Any]], path: Path) -> None:
    """Write the file. NumPy stamps no time in it, so equal arrays give equal bytes."""
    named: dict[str, Any] = dict(arrays)
    np.savez_compressed(path, **named)


if __name__ == "__main__":
    gguf = fetch_model()
    save(build(read_gguf(gguf), gguf), OUT)
    print(f"{OUT.relative_to(ROOT)}: {OUT.stat().st_size:,} bytes")
