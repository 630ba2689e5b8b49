"""What the book states and no computation can check is stated twice: see tools/pins.py."""

import json

import pytest

from tools.pins import PINNED, stated

KEPT = json.loads(PINNED.read_text("utf-8"))
NOW = stated()


@pytest.mark.parametrize("kind", sorted(NOW))
def test_stated_as_pinned(kind):
    assert NOW[kind] == KEPT[kind], f"{kind}: if the change is meant, python -m tools.pins"
