"""The real model for the tests: loaded once a process; where it cannot be had, a skip, or under CI a failure."""

import os
from functools import cache

import pytest

from lmhead.fetch import FetchError
from lmhead.smollm import SmolLM, load_model
from tests.support import session


def load() -> SmolLM:
    session.need("model")
    found = _load()
    if isinstance(found, SmolLM):
        return found
    if os.environ.get("CI"):
        pytest.fail(f"the real model is needed here: {found}", pytrace=False)
    pytest.skip(f"without the real model: {found}")


@cache
def _load() -> SmolLM | FetchError:
    try:
        return load_model()
    except FetchError as error:
        return error
