"""The real model in NumPy: guarded by its loss on a known paragraph, and by another implementation."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jinja2
import numpy as np
import pytest
from gguf import GGUFReader

from lmhead import cross_entropy, shift_targets, softmax
from lmhead.smollm import SmolLM, gap_shares, load_fixture, rms_norm
from lmhead.smollm import model as body
from lmhead.smollm.tokenizer import BYTE_OF, STARTS

PARAGRAPH_LOSS = 3.388938  # nats per token, 78 scored
REFERENCE = json.loads(Path(__file__).with_name("torch_reference.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def model(real_model: SmolLM) -> SmolLM:
    return real_model


@pytest.fixture(scope="module")
def ids(model: SmolLM) -> np.ndarray:
    return model.tokenizer.encode(load_fixture().prompts["paragraph"].text)


@pytest.fixture(scope="module")
def states(model: SmolLM, ids: np.ndarray) -> np.ndarray:
    return model.hidden_states(ids)


def paragraph_loss(model: SmolLM, ids: np.ndarray) -> float:
    return float(cross_entropy(model.logits(ids), shift_targets(ids)))


# The loss is the guard: each plausible mistake runs, and moves it.


def test_the_paragraph_costs_what_it_should(model: SmolLM, ids: np.ndarray, states: np.ndarray) -> None:
    logits = model.final_norm(states[-1]) @ model.W_U
    assert len(ids) == 79
    assert float(cross_entropy(logits, shift_targets(ids)).round(6)) == PARAGRAPH_LOSS


def half_split_rope(x: np.ndarray, base: float) -> np.ndarray:
    """The pairing (i, i + d_head / 2) of other files."""
    _, T, d_head = x.shape
    angle = np.outer(np.arange(T), base ** (-np.arange(0, d_head, 2) / d_head))
    first, second = np.split(x, 2, axis=-1)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def no_rope(x: np.ndarray, base: float) -> np.ndarray:
    return x


@pytest.mark.parametrize(("wrong", "loss"), [(half_split_rope, 4.62), (no_rope, 5.01)])
def test_the_loss_catches_a_wrong_rope(
    model: SmolLM,
    ids: np.ndarray,
    monkeypatch: pytest.MonkeyPatch,
    wrong: Callable[[np.ndarray, float], np.ndarray],
    loss: float,
) -> None:
    monkeypatch.setattr(body, "rope", wrong)
    assert round(paragraph_loss(model, ids), 2) == loss


def test_the_loss_catches_a_wrong_rope_base(model: SmolLM, ids: np.ndarray) -> None:
    assert round(paragraph_loss(replace(model, config=model.config._replace(rope_base=1e4)), ids), 2) == 3.51


def test_the_loss_catches_a_missing_final_gain(model: SmolLM, ids: np.ndarray, states: np.ndarray) -> None:
    h = rms_norm(states[-1], np.ones(model.config.d_model), model.config.norm_eps)
    assert round(float(cross_entropy(h @ model.W_U, shift_targets(ids))), 1) == 18.3


def test_the_loss_catches_targets_that_are_not_shifted(model: SmolLM, ids: np.ndarray, states: np.ndarray) -> None:
    logits = model.final_norm(states[-1]) @ model.W_U
    assert round(float(cross_entropy(logits, ids)), 2) == 10.64


@pytest.mark.parametrize("kind", REFERENCE)
def test_torch_gives_the_same_top_ten_and_the_same_shares(model: SmolLM, kind: str) -> None:
    expected = REFERENCE[kind]
    ids = model.tokenizer.encode(expected["prompt"], expected["start"])
    assert ids.tolist() == expected["ids"]
    writes = model.writes(ids)[:, -1]
    logits = model.final_norm(writes.sum(axis=0)) @ model.W_U
    top = np.argsort(-logits)[:10]
    assert top.tolist() == expected["top"]
    assert np.abs(softmax(logits)[top] - expected["p"]).max() < 1e-6
    assert np.abs(logits[top] - expected["logits"]).max() < 1e-6
    direction = model.W_U[:, top[0]] - model.W_U[:, top[1]]
    shares = gap_shares(writes, direction, model.weights["output_norm.weight"], model.config.norm_eps)
    assert np.abs(shares - expected["shares"]).max() < 1e-8


def test_shares_of_several_positions_are_those_of_each() -> None:
    rng = np.random.default_rng(5)
    writes, direction, gain = rng.normal(size=(4, 3, 6)) * [[[1.0], [10.0], [0.1]]], rng.normal(size=6), np.ones(6)
    shares = gap_shares(writes, direction, gain, 1e-5)
    each = [gap_shares(writes[:, t], direction, gain, 1e-5) for t in range(3)]
    assert shares.shape == (4, 3)
    np.testing.assert_allclose(shares, np.stack(each, axis=1), rtol=1e-13)


# What the file holds, and what comes out.


def test_the_head_is_tied(model: SmolLM) -> None:
    assert "output.weight" not in model.weights
    assert len(model.weights) == 272
    assert sum(weight.size for weight in model.weights.values()) == 134_515_008
    assert model.E.shape == (49_152, 576)
    assert model.W_U.shape == (576, 49_152)
    assert np.shares_memory(model.W_U, model.E)


def test_a_head_of_its_own_would_be_used(model: SmolLM) -> None:
    other = replace(model, weights=dict(model.weights) | {"output.weight": -model.E})
    assert np.array_equal(other.W_U, -model.E.T)


def test_weights_cannot_be_changed_by_accident(model: SmolLM) -> None:
    with pytest.raises(ValueError, match="read-only"):
        model.E[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        model.W_U[:, 0] = 0


def test_hidden_states_begin_with_the_embedding(model: SmolLM, ids: np.ndarray, states: np.ndarray) -> None:
    assert states.shape == (31, 79, 576)
    assert states.dtype == np.float64
    assert np.array_equal(states[0], model.E[ids])


def test_no_position_sees_what_comes_later(model: SmolLM, ids: np.ndarray, states: np.ndarray) -> None:
    prefix = model.hidden_states(ids[:7])
    assert np.abs(prefix - states[:, :7]).max() < 1e-9 * np.abs(states).max()


def test_each_state_is_the_sum_of_the_writes_up_to_it(model: SmolLM, ids: np.ndarray, states: np.ndarray) -> None:
    writes = model.writes(ids)
    assert writes.shape == (61, 79, 576)
    assert np.abs(writes.cumsum(axis=0)[::2] - states).max() < 1e-12 * np.abs(states).max()
    assert model.write_names[:4] == ("embedding", "attention 1", "feed-forward 1", "attention 2")
    assert (len(model.write_names), model.write_names[-1]) == (61, "feed-forward 30")


def test_each_write_is_the_one_that_its_name_says(model: SmolLM, ids: np.ndarray, states: np.ndarray) -> None:
    """A layer whose attention writes nothing adds its feed-forward alone, of the state as it came."""
    silent = np.zeros_like(model.weights["blk.11.attn_output.weight"])
    quiet = replace(model, weights=dict(model.weights) | {"blk.11.attn_output.weight": silent})
    writes = quiet.writes(ids)
    assert not writes[model.write_names.index("attention 12")].any()
    layer = {name: model.weights[f"blk.11.{name}.weight"] for name in ("ffn_gate", "ffn_up", "ffn_down", "ffn_norm")}
    alone = body.feed_forward(rms_norm(states[11], layer["ffn_norm"], model.config.norm_eps), layer)
    assert np.abs(writes[model.write_names.index("feed-forward 12")] - alone).max() < 1e-9 * np.abs(alone).max()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", np.float16, int, "int8", bool, complex, "U7", object])
def test_a_dtype_that_cannot_carry_the_computation(dtype: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "fetch_model", lambda: pytest.fail("fetched for nothing"))
    with pytest.raises(TypeError, match=r"^the model computes in float64 or float32; got .*, which cannot carry it$"):
        body.load_model(dtype)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", [np.float64, "float32", np.dtype(">f4"), float])
def test_the_dtypes_that_can(dtype: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "fetch_model", lambda: None)
    monkeypatch.setattr(body, "read_gguf", lambda _, dtype, mapped: dtype)
    asked = np.dtype(dtype)  # type: ignore[call-overload]
    assert body.load_model(dtype) == asked.newbyteorder("=")  # type: ignore[arg-type]


def test_weights_in_float16_are_computed_with_in_float32(model: SmolLM) -> None:
    """Their rounding moves the second decimal of a logit; infinite squares would make rows of zeros."""
    half = replace(model, weights={name: weight.astype(np.float16) for name, weight in model.weights.items()})
    ids = np.array([504, 3575, 282, 4649, 314])  # "The capital of France is"
    with np.errstate(all="raise", under="ignore"):
        logits, exact = half.logits(ids), model.logits(ids)
    assert logits.dtype == np.float32
    assert model.tokenizer.token(logits[-1].argmax()) == model.tokenizer.token(exact[-1].argmax()) == " Paris"
    assert (round(float(exact[-1].max()), 3), round(float(logits[-1].max()), 3)) == (17.371, 17.379)
    assert round(float(cross_entropy(exact, shift_targets(ids))), 4) == 3.6916
    assert abs(float(cross_entropy(logits, shift_targets(ids))) - 3.6916) < 1e-3


def test_float32_throughout(model: SmolLM, ids: np.ndarray) -> None:
    single = replace(model, weights={name: weight.astype(np.float32) for name, weight in model.weights.items()})
    states = single.hidden_states(ids)
    logits = single.final_norm(states[-1]) @ single.W_U
    assert states.dtype == logits.dtype == np.float32
    assert abs(float(cross_entropy(logits, shift_targets(ids))) - PARAGRAPH_LOSS) < 1e-4


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([], ValueError, r"T from 1 to 8192; got shape \(0,\)"),
        ([[1, 2]], ValueError, r"ids must be \[T\].*got shape \(1, 2\)"),
        ([0] * 8193, ValueError, r"T from 1 to 8192; got shape \(8193,\)"),
        ([1.0, 2.0], TypeError, "ids must be integers; got float64: encode the text first"),
        (["The"], TypeError, "encode the text first"),
        ([5, 49_152], IndexError, r"ids\[1\] is 49152: the vocabulary has ids 0 to 49151"),
        ([5, 6, -100], IndexError, r"ids\[2\] is -100"),
    ],
)
def test_ids_that_cannot_be_read(model: SmolLM, ids: list[object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        model.hidden_states(ids)


# The tokenizer.


@pytest.mark.parametrize(
    "text",
    [
        "The cat sat on the",
        "",
        "  two  spaces\n\n\tand a tab",
        "3.14159",
        "naïve façade",
        "从前有一个",
        "🙂👩‍👩‍👧",
        "\x00\x7f",
    ],
)
def test_text_survives_the_round_trip(model: SmolLM, text: str) -> None:
    ids = model.tokenizer.encode(text)
    assert ids.dtype == np.int64
    assert model.tokenizer.decode(ids) == text
    assert b"".join(model.tokenizer.vocab[i] for i in ids) == text.encode()


def test_digits_are_single_tokens(model: SmolLM) -> None:
    assert [model.tokenizer.token(i) for i in model.tokenizer.encode("42")] == ["4", "2"]


def test_special_tokens(model: SmolLM) -> None:
    tokenizer = model.tokenizer
    assert tokenizer.encode("<|im_start|>user").tolist() == [1, tokenizer.id("user")]
    assert tokenizer.decode([1]) == tokenizer.token(1) == "<|im_start|>"
    assert tokenizer.special_ids == tuple(range(17))


def test_what_stands_before_a_text(model: SmolLM) -> None:
    encode, count_before = model.tokenizer.encode, model.tokenizer.count_before
    plain = encode("The cat").tolist()
    assert encode("The cat", "none").tolist() == plain
    assert encode("The cat", "text").tolist() == [0, *plain]
    chat = encode("The cat", "chat").tolist()
    assert model.tokenizer.decode(chat) == STARTS["chat"] + "The cat"
    assert chat[-2:] == plain
    assert [count_before("The cat", start) for start in STARTS] == [0, 1, len(chat) - 2]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("text", ["<|endoftext|>The cat", "<|im_start|>user\nThe cat"])
def test_no_start_is_added_twice(model: SmolLM, text: str, start: str) -> None:
    assert model.tokenizer.encode(text, start).tolist() == model.tokenizer.encode(text).tolist()
    assert model.tokenizer.count_before(text, start) == 0


def test_a_text_that_begins_with_line_breaks(model: SmolLM) -> None:
    """In a chat it joins the line break before it to one token, which is the text's; its ids are the template's."""
    chat = model.tokenizer.encode("\n\nThe", "chat")
    assert model.tokenizer.decode(chat) == STARTS["chat"] + "\n\nThe"
    before = model.tokenizer.count_before("\n\nThe", "chat")
    assert [model.tokenizer.token(i) for i in chat[before - 1 :]] == ["user", "\n\n", "\n", "The"]


def test_a_start_that_there_is_not(model: SmolLM) -> None:
    with pytest.raises(ValueError, match="start must be one of 'none', 'text', 'chat'; got 'bos'"):
        model.tokenizer.encode("The", "bos")


def test_the_chat_start_is_the_files_own_template(model: SmolLM) -> None:
    template = GGUFReader(body.fetch_model()).fields["tokenizer.chat_template"].contents()
    turn = [{"role": "user", "content": "The cat sat on the"}]
    assert jinja2.Template(template).render(messages=turn) == STARTS["chat"] + "The cat sat on the<|im_end|>\n"


def test_a_part_of_a_character_shows_its_bytes(model: SmolLM) -> None:
    ids = model.tokenizer.encode("日")
    assert [model.tokenizer.token(i) for i in ids] == [r"\xe6\x97", r"\xa5"]
    assert model.tokenizer.decode(ids) == "日"
    assert model.tokenizer.decode(ids[:1]) == "\ufffd"


def test_the_id_of_one_token(model: SmolLM) -> None:
    assert model.tokenizer.token(model.tokenizer.id(" Paris")) == " Paris"
    with pytest.raises(ValueError, match=r"'42' is 2 tokens, not one: \['4', '2'\]"):
        model.tokenizer.id("42")
    with pytest.raises(ValueError, match="'' is 0 tokens"):
        model.tokenizer.id("")


@pytest.mark.parametrize("id", [-100, 49_152])
def test_ids_outside_the_vocabulary_have_no_text(model: SmolLM, id: int) -> None:
    with pytest.raises(IndexError, match=f"token id {id} is not in the vocabulary; its ids go from 0 to 49151"):
        model.tokenizer.decode([0, id])
    with pytest.raises(IndexError, match=f"token id {id}"):
        model.tokenizer.token(id)


def test_what_is_not_unicode_is_named(model: SmolLM) -> None:
    with pytest.raises(ValueError, match=r"character 2 of the text, '\\udcff', is not Unicode"):
        model.tokenizer.encode("ab\udcff")


def test_every_byte_has_one_letter() -> None:
    assert sorted(BYTE_OF.values()) == list(range(256))


# The parts, without the model.


def test_rms_norm_by_hand() -> None:
    x = np.array([[3.0, 4.0], [0.0, 0.0]])
    assert np.allclose(rms_norm(x, np.array([1.0, 2.0]), 0.5), [[3 / 13**0.5, 8 / 13**0.5], [0, 0]], rtol=1e-15)


def test_rms_norm_does_not_overflow() -> None:
    for dtype, size in ((np.float16, 6e4), (np.float32, 1e38)):
        with np.errstate(all="raise"):
            normed = rms_norm(np.array([size, -size, 0, size], dtype), np.ones(4, dtype), 1e-5)
        assert normed.dtype == np.float32
        assert np.allclose(normed, np.array([1, -1, 0, 1]) * (4 / 3) ** 0.5, rtol=1e-6)


def test_rope_depends_on_the_distance_alone() -> None:
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 1, 1, 8))
    turned_q, turned_k = (body.rope(np.repeat(v, 12, axis=1), 100.0)[0] for v in (q, k))  # [12 positions, 8]
    assert np.allclose(turned_q[3] @ turned_k[1], turned_q[11] @ turned_k[9])
    assert not np.allclose(turned_q[3] @ turned_k[1], turned_q[3] @ turned_k[2])
    assert np.allclose(np.linalg.norm(turned_q, axis=-1), np.linalg.norm(q))


def test_silu_never_overflows() -> None:
    x = np.array([-1e4, -1.0, 0.0, 1.0, 1e4], dtype=np.float32)
    with np.errstate(all="raise"):
        assert np.allclose(body.silu(x), [0, -0.26894143, 0, 0.7310586, 1e4])


def test_the_fixture_needs_numpy_alone() -> None:
    code = (
        "import sys; from lmhead.smollm import load_fixture; load_fixture(); "
        "print({'gguf', 'tokenizers', 'filelock', 'platformdirs', 'tqdm'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
