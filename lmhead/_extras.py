"""What to install where one of the package's extras is missing, said in one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def extra(name: str, module: str) -> Iterator[None]:
    """Around the imports of `module` that `pip install 'lmhead[name]'` brings: a missing one names that command."""
    try:
        yield
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package == "lmhead":
            raise
        raise ModuleNotFoundError(f"{module} needs {package}: pip install 'lmhead[{name}]'", name=package) from None
