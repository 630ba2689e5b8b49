"""The views' arithmetic in the browser is lmhead's: the same numbers from hundreds of random and extreme settings."""

import dataclasses
import math
import re
from fractions import Fraction

import numpy as np
import pytest

import lmhead
from lmhead import smollm, widgets
from lmhead.widgets import _directions, _loss, _overflow, _probabilities, _prompts, _view, _write
from tests.support.gallery import figure_of
from tests.support.views import MODULES, Script, shows


def script_of(view):
    return Script(figure_of(view).view._esm)


def assert_close(ours, theirs, setting):
    """Relative 1e-12 above a floor of 1e-300, name by name; whole numbers are equal."""
    assert ours.keys() == theirs.keys()
    for name, expected in theirs.items():
        got = np.asarray(ours[name], float)
        error = np.abs(got - expected)
        allowed = 1e-12 * np.abs(expected) + 1e-300
        assert got.shape == np.shape(expected) and (error <= allowed).all(), (name, got, expected, setting)


def rows_of_logits(rng):
    """Rows that are ordinary, large, nearly tied, tied, led by far, and mixed."""
    for _ in range(40):
        vocab = int(rng.integers(2, 9))
        yield rng.normal(size=vocab) * 3
        yield rng.normal(size=vocab) * 1e3
        yield rng.normal(size=vocab) * 1e-9 + rng.normal() * 50
        yield rng.integers(-2, 3, vocab).astype(float)
        yield np.append(rng.normal(size=vocab), rng.uniform(20, 700))
        yield rng.choice([0.0, 1e-300, 1e300, -1e300, 745.0, -745.0, 88.8], vocab)


def test_probabilities():
    rng, script = np.random.default_rng(0), script_of("probabilities")
    for logits in rows_of_logits(rng):
        state = {
            "logits": logits.tolist(),
            "temperature": float(rng.choice([0.1, 0.5, 1.0, 3.0, rng.uniform(0.1, 3)])),
            "top_k": int(rng.integers(1, len(logits) + 1)),
            "top_p": float(rng.choice([0.05, 0.5, 0.9, 1.0, rng.uniform(0.05, 1)])),
        }
        assert_close(script.call("numbers", state), _probabilities.numbers(state), state)


def test_top_p_keeps_the_token_that_crosses():
    script = script_of("probabilities")
    state = {"logits": [0.0, 0.0, 0.0, 0.0], "temperature": 1.0, "top_k": 4}
    for top_p, kept in ((0.25, [0]), (0.26, [0, 1]), (0.5, [0, 1]), (0.75, [0, 1, 2]), (1.0, [0, 1, 2, 3])):
        assert script.call("numbers", {**state, "top_p": top_p})["kept"] == kept
        assert _probabilities.numbers({**state, "top_p": top_p})["kept"] == kept


def test_all_real_logits_of_every_prompt():
    rng, figure = np.random.default_rng(1), figure_of("prompts")
    script, state = Script(figure.view._esm), dict(figure.view.get_state())
    for prompt in range(len(state["prompts"])):
        state["prompt"] = prompt
        read = f"((s) => Array.from(allLogits(s.top[{prompt}], s.tail_{prompt})).map(String).join())"
        assert script.call(read, state) == script.call(
            "((x) => x.map(String).join())", _prompts.all_logits(state).tolist()
        )
        for _ in range(15):
            state |= {
                "temperature": float(rng.choice([0.1, 1.0, 3.0, rng.uniform(0.1, 3)])),
                "top_k": float(rng.choice([1.0, 2.5, 1000.3, 49152.0, 65536.0])),
                "top_p": float(rng.choice([0.05, 0.6, 0.95, 1.0])),
            }
            assert_close(script.call("numbers", state), _prompts.numbers(state), state["top_k"])


@pytest.mark.parametrize("start", ["none", "text", "chat"])
def test_float16_logits_move_no_probability_by_more_than_5e_5(start):
    fixture = smollm.load_fixture()
    state = dict(widgets.probabilities_of_prompts(fixture, start=start).view.get_state())
    for at, text in enumerate(state["prompts"]):
        exact = lmhead.softmax(fixture.prompt(text, start).logits[-1])  # with all that is not stored in its last entry
        best = np.sort(exact[:-1])[::-1][:20]
        shown = _prompts.numbers({**state, "prompt": at})["p"]
        assert np.abs(shown - best).max() <= 5e-5


@pytest.mark.parametrize("start", ["none", "text", "chat"])
def test_each_token_stands_beside_its_own_logit(start):
    fixture = smollm.load_fixture()
    state = dict(widgets.probabilities_of_prompts(fixture, start=start).view.get_state())
    for at, text in enumerate(state["prompts"]):
        logits = fixture.prompt(text, start).logits[-1, :-1]
        likeliest = np.argsort(-logits)[:20]
        rows = _prompts.said({**state, "prompt": at})[0]["rows"][:-1]
        assert state["labels"][at] == [repr(fixture.tokens[token]) for token in likeliest]
        assert [float(row[1]) for row in rows] == pytest.approx(logits[likeliest], abs=6e-5)


def test_directions():
    rng, script = np.random.default_rng(2), script_of("directions")
    for _ in range(300):
        W_U = rng.normal(size=(2, rng.integers(2, 9))) * rng.choice([1e-3, 1.0, 1e3])
        state = {"W_U": W_U.tolist(), "angle": int(rng.integers(-180, 181)), "length": float(rng.uniform(0.1, 3))}
        ours, theirs = script.call("numbers", state), _directions.numbers(state)
        for name in ("h", "logit", "cosine"):  # a sum of two products may cancel: relative to the larger of them
            size = {"h": 1, "logit": np.abs(W_U).max(), "cosine": 1}[name] * (
                1 if name == "cosine" else state["length"]
            )
            assert np.abs(np.subtract(ours[name], theirs[name])).max() <= 1e-12 * size, (name, state)
        assert ours["best_logit"] == theirs["best_logit"] and ours["best_cosine"] == theirs["best_cosine"]


@pytest.mark.parametrize("view", ["loss", "gradient_step"])
def test_loss_and_gradient(view):
    rng, script = np.random.default_rng(3), script_of(view)
    for logits in rows_of_logits(rng):
        if np.ptp(logits) > 690:
            logits = logits / np.ptp(logits) * 690  # exp(loss) ends at 709.78
        target, rate = int(rng.integers(len(logits))), float(rng.uniform(0.1, 5))
        state = {"logits": logits.tolist(), "target": target, "learning_rate": rate}
        ours, theirs = script.call("numbers", state), MODULES[view].numbers(state)
        if view == "gradient_step":  # a step may cancel a logit; what is left of it is off by its own last digits
            slack = 1e-12 * (1 + np.abs(logits).max())
            assert np.abs(np.subtract(ours.pop("next_logits"), theirs.pop("next_logits"))).max() <= slack
            assert abs(ours.pop("next_loss") - theirs["next_loss"]) <= 2 * slack + 1e-12 * theirs.pop("next_loss")
        else:  # perplexity turns an absolute error of the loss into a relative one of its own
            assert ours.pop("perplexity") == pytest.approx(theirs.pop("perplexity"), rel=2e-12)
        assert_close(ours, theirs, state)


def test_a_loss_near_zero_keeps_its_digits():
    script = script_of("loss")
    for lead in (20.0, 46.0, 100.0, 700.0):
        state = {"logits": [lead, 0.0, -1.0], "target": 0}
        expected = _loss.numbers(state)["loss"]
        assert 0 < expected < 1e-8
        assert script.call("numbers", state)["loss"] == pytest.approx(expected, rel=1e-12, abs=0)


def halves():
    """Every finite float16, the middles between neighbours, and their float64 neighbours."""
    every = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    middle = (every[1:] + every[:-1]) / 2
    around = [every, middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)]
    return np.concatenate([*around, [65504.0, 65519.9, 65520.0, 1e5, 1e300, np.inf, 5e-324, 2.0**-25]])


def test_rounding_to_half_is_exact():
    script = script_of("overflow")
    x = np.concatenate([halves(), -halves(), np.random.default_rng(4).normal(size=10_000) * 100])
    with np.errstate(over="ignore"):
        expected = x.astype(np.float16).astype(np.float64)
    got = script.call(
        "((hex) => hex.map((x) => roundHalf(Number(x))))",
        [repr(float(value)).replace("inf", "Infinity") for value in x],
    )
    np.testing.assert_array_equal(got, expected)
    assert (np.signbit(got) == np.signbit(expected)).all()
    assert math.isnan(script.call("(() => roundHalf(NaN))"))


def test_every_half_is_read_from_its_bits():
    bits = np.arange(2**16, dtype=np.uint16)
    got = script_of("prompts").call("((bits) => bits.map(fromHalfBits))", bits.tolist())
    np.testing.assert_array_equal(got, bits.view(np.float16).astype(np.float64))


def test_overflow():
    rng, script = np.random.default_rng(5), script_of("overflow")
    offsets = [*range(-800, 801, 25), 11, 12, 88, 89, 709, 710, -17, -18, -103, -104, -745, -746]
    for offset in offsets:
        for logits in ([2.0, 1.0, 0.1], rng.normal(size=3).tolist(), (rng.normal(size=5) * 20).tolist()):
            state = {"logits": logits, "offset": offset}
            ours, theirs = script.call("numbers", state), _overflow.numbers(state)
            assert ours.keys() == theirs.keys()
            for name, expected in theirs.items():
                assert_close_in_format(name, np.asarray(ours[name]), np.asarray(expected), state)


def assert_close_in_format(name, got, expected, state):
    """Stored logits equal; float64 within 1e-12, the other formats within 2 ulp; inf and nan in the same places."""
    what, _, number = name.rpartition("_")
    if what == "stored":
        np.testing.assert_array_equal(got, expected)
        return
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(got[~finite], expected[~finite])
    size = np.abs(expected[finite])
    half_or_single = number in ("float16", "float32")
    allowed = 2 * np.spacing(size.astype(number)).astype(float) if half_or_single else 1e-12 * size + 1e-300
    assert (np.abs(got[finite] - expected[finite]) <= allowed).all(), (name, got, expected, state)


@pytest.mark.parametrize("view", ["shapes", "head_cost"])
def test_counts_are_exact(view):
    rng, script = np.random.default_rng(6), script_of(view)
    for _ in range(200):
        state = {
            "positions": int(rng.integers(1, 65_537)),
            "d_model": int(rng.integers(1, 16_385)),
            "vocab_size": int(rng.integers(1, 262_145)),
            "chunk": int(rng.integers(1, 16_385)),
            "devices": int(rng.integers(1, 17)),
            "tied": bool(rng.integers(2)),
            "bytes_per_number": int(rng.choice([2, 4])),
        }
        assert script.call("numbers", state) == MODULES[view].numbers(state)


def test_draws_are_the_inverse_of_the_running_sum():
    script = script_of("probabilities")
    rng = np.random.default_rng(7)
    for logits in rows_of_logits(rng):
        p = lmhead.softmax(logits)
        u = float(rng.random())
        cdf = np.cumsum(p)
        assert script.call("drawToken", p.tolist(), u) == (cdf <= u * cdf[-1]).sum()
    assert script.call("drawToken", [0.0, 0.5, 0.5, 0.0], 0.0) == 1


def magnitudes():
    """Numbers from 1e-12 to 1e12 and their negatives: at random, whole, powers, ties of each format, and neighbours."""
    rng = np.random.default_rng(8)
    spread = (10.0 ** rng.uniform(-12, 12, 3000)).tolist()
    powers = [10.0**n for n in range(-12, 13)] + [2.0**n for n in range(-40, 41)]
    ties = [n / 32 for n in range(1, 400, 2)] + [1.25e6, 1.35e6, 2.5 * 2.0**-15, 8886112.5205, 5e-5, 1e6, 0.99995]
    some = [*spread, *map(float, map(round, spread[:500])), *powers, *ties]
    near = [math.nextafter(x, side) for x in [*powers, *ties] for side in (0.0, math.inf)]
    return [0.0, -0.0, math.nan, math.inf, -math.inf, 1e300, 5e-324, *some, *near, *(-x for x in [*some, *near])]


def test_a_number_is_written_alike_with_scripts_and_without():
    script, numbers = script_of("loss"), magnitudes()
    texts = [repr(x).replace("inf", "Infinity").replace("nan", "NaN") for x in numbers]
    for name in ("decimals", "short"):
        ours = script.call(f"((all) => all.map((x) => {name}(Number(x))))", texts)
        pairs = zip(numbers, ours, map(getattr(_write, name), numbers), strict=True)
        assert [pair for pair in pairs if pair[1] != pair[2]] == []
    counts = [0, 1, *(int(abs(x)) for x in numbers if 1 <= abs(x) < 2**53)]
    counts += [1024**n + near for n in (1, 2, 3, 4) for near in (-1, 0, 1)]
    for ours, theirs in (("bytes", _write.size), ("grouped", _write.grouped)):
        assert script.call(f"((all) => all.map({ours}))", counts) == list(map(theirs, counts))


def test_a_written_number_is_the_nearest_of_its_form():
    for x in magnitudes():
        text = _write.decimals(x)
        if not math.isfinite(x):
            assert text == str(x)
            continue
        assert re.fullmatch(r"-?\d\.\de[+-]\d+" if 0 < abs(x) < 5e-5 or abs(x) >= 1e6 else r"-?\d+\.\d{4}", text)
        last = Fraction(10) ** (int(text.partition("e")[2]) - 1 if "e" in text else -4)
        assert abs(Fraction(text) - Fraction(x)) <= last / 2, (x, text)
        assert shows(_write.short(x), x)
    assert [_write.decimals(x) for x in (8886112.5205, 1e-7, -2.0, 0.03125)] == [
        "8.9e+6",
        "1.0e-7",
        "-2.0000",
        "0.0313",
    ]
    assert [_write.short(x) for x in (-2.0, 0.1, 100.0, 1e10)] == ["-2", "0.1", "100", "1.0e+10"]
    assert [_write.size(n) for n in (0, 1023, 1024, 1_953_125)] == ["0 B", "1,023 B", "1 KiB", "1.863 MiB"]
    assert _write.grouped(51_200_000) == "51,200,000"


def test_the_scripts_hold_no_words():
    """A translator reaches Python's words; in a script a text of two words is code, a class or a unit."""
    for path in sorted(_view.HERE.glob("*.js")):
        code = re.sub(r"//.*", "", path.read_text("utf-8"))
        strings = re.findall(r'"([^"\n]*)"', code)
        sentences = [text for text in strings if re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}", text)]
        assert all(re.fullmatch(r"(lmhead[\w-]* ?)+", text) for text in sentences), (path.name, sentences)


def test_settings_outside_the_sliders_are_refused():
    with pytest.raises(ValueError, match=r"\(2,\) and 3 labels"):
        widgets.probabilities([1.0, 2.0], ["a", "b", "c"])
    with pytest.raises(ValueError, match="temperature must be"):
        widgets.probabilities([1.0, 2.0], ["a", "b"], temperature=0)
    with pytest.raises(ValueError, match="finite"):
        widgets.loss([1.0, math.inf], ["a", "b"])
    with pytest.raises(IndexError, match="target is 3"):
        widgets.loss(target=3)
    with pytest.raises(ValueError, match="no direction"):
        widgets.directions([[1.0, 0.0], [1.0, 0.0]], ["a", "b"])
    with pytest.raises(ValueError, match="multiple of 32"):
        widgets.shapes(d_model=500)
    with pytest.raises(ValueError, match="multiple of 256"):
        widgets.head_cost(chunk=100)
    with pytest.raises(ValueError, match="positions must be 1 to 2048; got 0"):
        widgets.shapes(positions=0)
    with pytest.raises(ValueError, match=r"got \(1, 2\) and 2 labels"):
        widgets.directions([[1.0, 0.0]], ["a", "b"])
    with pytest.raises(ValueError, match="got 30, 9"):
        widgets.directions([[1.0, 0.0], [1.0, 1.0]], ["a", "b"], angle=30, length=9)
    with pytest.raises(ValueError, match=r"learning_rate must be 0\.1 to 5; got 0$"):
        widgets.gradient_step([1.0, 2.0], ["a", "b"], target=0, learning_rate=0)
    with pytest.raises(ValueError, match="offset must be -800 to 800; got 900"):
        widgets.overflow(offset=900)
    with pytest.raises(ValueError, match=r"got \(1, 2\) and 2 labels"):
        widgets.training([[1, 1]], ["a", "b"])
    with pytest.raises(ValueError, match="every token must be followed by one"):
        widgets.training([[1, 1], [0, 0]], ["a", "b"])
    with pytest.raises(ValueError, match="got 50, 501 and 0"):
        widgets.training([[1, 1], [1, 1]], ["a", "b"], rate=50, step=501)
    with pytest.raises(ValueError, match="got 1, 0"):
        widgets.probabilities_of_prompts(smollm.load_fixture(), temperature=1, top_p=0)
    with pytest.raises(ValueError, match="does not store the 5000 most likely"):
        widgets.probabilities_of_prompts(smollm.load_fixture(), named=5000)
    with pytest.raises(ValueError, match="does not store the 20 most likely tokens of 'The cat sat on the'"):
        widgets.probabilities_of_prompts(with_gaps(1.01))
    widgets.probabilities_of_prompts(with_gaps(1.0002))  # float16 has no more digits
    with pytest.raises(ValueError, match="no such word: colour"):
        widgets.overflow(words={"colour": "red"})


def with_gaps(factor):
    """The fixture, the distances of its logits to the largest as if they were of another model."""
    fixture = smollm.load_fixture()
    prompt = fixture.prompt("The cat sat on the", "none")
    other = dataclasses.replace(prompt, gaps=factor * prompt.gaps)
    return dataclasses.replace(fixture, _prompts={**fixture._prompts, ("The cat sat on the", "none"): other})


def test_words_can_be_replaced():
    figure = widgets.loss(words={"target": "Ziel"})
    menu, view = figure.children
    assert menu.description == "Ziel" and view.words["target"] == "Ziel" and "cat Ziel" in figure.static


def test_an_output_is_the_same_in_every_run():
    first, second = (widgets.overflow()._repr_mimebundle_() for _ in range(2))
    assert first["text/plain"] == second["text/plain"] == "<lmhead.widgets.overflow>"
    assert first["text/html"] == second["text/html"]
    assert "<td>nan</td>" in first["text/html"] and "<td>0.6590</td>" in first["text/html"]
