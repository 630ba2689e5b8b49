"""Weights that are mapped from a file: the same numbers, shared, and never a file that is torn or another model's."""

from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFWriter, quants

from lmhead import fetch
from lmhead.smollm import model as body
from lmhead.smollm.mapped import file_of
from lmhead.smollm.tokenizer import BYTE_OF

IDS = [3, 1, 4, 1, 5]
DTYPE = np.dtype(np.float64)


def write_gguf(path: Path, seed: int = 0) -> Path:
    """A Llama of one layer whose sizes all differ, with made-up weights."""
    spellings = [*BYTE_OF, "ab"]
    rng, writer = np.random.default_rng(seed), GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_embedding_length(12)
    writer.add_vocab_size(len(spellings))
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_rope_dimension_count(4)
    writer.add_rope_freq_base(100.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_context_length(16)
    writer.add_token_list(spellings)
    writer.add_token_types([1] * len(spellings))
    writer.add_token_merges(["a b"])
    shapes = {"attn_q": (8, 12), "attn_k": (4, 12), "attn_v": (4, 12), "attn_output": (12, 8), "attn_norm": (12,)}
    shapes |= {"ffn_gate": (20, 12), "ffn_up": (20, 12), "ffn_down": (12, 20), "ffn_norm": (12,)}
    shapes = {f"blk.0.{name}": shape for name, shape in shapes.items()}
    for name, shape in ({"token_embd": (len(spellings), 12), "output_norm": (12,)} | shapes).items():
        writer.add_tensor(f"{name}.weight", rng.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def gguf(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("LMHEAD_CACHE", str(tmp_path))
    return write_gguf(tmp_path / "tiny.gguf")


def logits(gguf: Path, mapped: bool | None, dtype: type = np.float64) -> bytes:
    return body.read_gguf(gguf, dtype, mapped=mapped).logits(IDS).tobytes()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_mapped_weights_give_the_same_logits_to_the_last_digit(gguf: Path, dtype: type) -> None:
    own = logits(gguf, False, dtype)
    assert logits(gguf, True, dtype) == own  # the call that makes the file
    assert logits(gguf, True, dtype) == own
    assert logits(gguf, None, dtype) == own


def test_mapped_weights_lie_in_the_file_and_cannot_be_changed(gguf: Path) -> None:
    weights = body.read_gguf(gguf, mapped=True).weights
    for name, own in body.read_gguf(gguf, mapped=False).weights.items():
        base: object = weights[name]
        while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap), name
        assert type(weights[name]) is np.ndarray
        assert not weights[name].flags.writeable
        assert np.array_equal(weights[name], own), name


def test_a_good_file_is_only_read(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a cache that nobody but its owner can write serves all."""
    expected = logits(gguf, True)
    monkeypatch.setattr(fetch, "FileLock", lambda _: pytest.fail("would write a lock"))
    monkeypatch.setattr(quants, "dequantize", lambda *_: pytest.fail("would read all weights"))
    assert logits(gguf, True) == expected


def test_it_is_made_only_for_who_asks(gguf: Path) -> None:
    logits(gguf, None)
    assert not file_of(gguf, DTYPE).exists()


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(
        {
            "torn": data[:middle],
            "a byte short": data[:-1],
            "zeros at the end": data[:middle] + bytes(len(data) - middle),  # a disk that lost what it had promised
            "one bit": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            "empty": b"",
        }[how]
    )


@pytest.mark.parametrize("how", ["torn", "a byte short", "zeros at the end", "one bit", "empty"])
@pytest.mark.parametrize("mapped", [True, None])
def test_a_damaged_file_is_made_anew(gguf: Path, how: str, mapped: bool | None) -> None:
    expected = logits(gguf, True)
    good = file_of(gguf, DTYPE).read_bytes()
    damage(file_of(gguf, DTYPE), how)
    assert logits(gguf, mapped) == expected
    assert file_of(gguf, DTYPE).read_bytes() == good


def test_the_weights_of_another_model_are_not_taken(gguf: Path) -> None:
    before = logits(gguf, True)
    write_gguf(gguf, seed=1)
    assert logits(gguf, True) == logits(gguf, False) != before


def test_what_a_killed_writer_left_is_not_taken(gguf: Path) -> None:
    expected = logits(gguf, True)
    kept = file_of(gguf, DTYPE)
    partial = kept.with_name(f"{kept.name}.partial")
    partial.mkdir()
    kept.replace(partial / "weights")
    damage(partial / "weights", "torn")
    assert logits(gguf, None) == expected
    assert not kept.exists()
    assert logits(gguf, True) == expected
    assert not partial.exists()


def test_a_writer_that_is_interrupted_leaves_nothing(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dequantize, called = quants.dequantize, []

    def interrupted(*arguments: object) -> np.ndarray:
        called.append(arguments)
        if len(called) == 5:
            raise KeyboardInterrupt
        return dequantize(*arguments)

    monkeypatch.setattr(quants, "dequantize", interrupted)
    with pytest.raises(KeyboardInterrupt):
        logits(gguf, True)
    assert {file.name for file in file_of(gguf, DTYPE).parent.iterdir()} == {"tiny.gguf", "tiny.float64.lock"}


def test_a_cache_that_cannot_be_written_says_so(gguf: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("LMHEAD_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(fetch.CacheNotWritableError, match="set LMHEAD_CACHE to a folder that can be written"):
        logits(gguf, True)
