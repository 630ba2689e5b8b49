"""The model's weights in one file that is mapped into memory: all processes of a machine that map it share one copy.

The file holds the weights one after the other, and then the SHA-256 of them and of the GGUF file that they come from.
It is written beside its place and moved there, and checked at every call: one that is torn, damaged or made from
another model is made anew, or where the cache cannot be written refused.
"""

import hashlib
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from lmhead._arguments import Array

DIGEST = hashlib.sha256().digest_size  # 32 bytes, the end of the file


def file_of(gguf: Path, dtype: np.dtype[Any]) -> Path:
    """Where the weights of a GGUF file are kept in this dtype."""
    from lmhead.fetch import cache_folder

    return cache_folder() / f"{gguf.stem}.{dtype.name}"


def mapped_weights(
    gguf: Path, shapes: Mapping[str, tuple[int, ...]], weights: Iterable[Array], dtype: np.dtype[Any]
) -> dict[str, Array]:
    """The weights by name, read-only, mapped from a file that the first call makes.

    Args:
        gguf: the file that they come from.
        shapes: the names of all weights and their shapes, in order.
        weights: the weights in that order; nobody looks at them if the file is there.
        dtype: of the file, and of what is returned.

    Raises:
        lmhead.fetch.FetchError: there is no such file, and none can be made; one line says why.
    """
    from lmhead.fetch import keep, sha256_of

    source = sha256_of(gguf).encode()
    sizes = [prod(shape) for shape in shapes.values()]
    n_bytes = sum(sizes) * dtype.itemsize

    def write(folder: Path) -> Path:
        digest = hashlib.sha256(source)
        with (folder / "weights").open("wb") as file:
            for weight in weights:
                data = np.ascontiguousarray(weight, dtype).data
                digest.update(data)
                file.write(data)
            file.write(digest.digest())
        return folder / "weights"

    def is_good(path: Path) -> bool:
        if not path.exists() or path.stat().st_size != n_bytes + DIGEST:
            return False
        content = np.memmap(path, np.uint8, mode="r")
        digest = hashlib.sha256(source)
        digest.update(content[:n_bytes].data)
        return digest.digest() == content[n_bytes:].tobytes()

    kept = keep(file_of(gguf, dtype), write, is_good, room=n_bytes + DIGEST)
    flat = np.asarray(np.memmap(kept, dtype, mode="r", shape=sum(sizes)))
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    return {name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}
