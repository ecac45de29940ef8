"""An attribute that is set for two parts of one dataset."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.shared_setting import SharedSetting
from debugtracer.trace.step import StepRef

FIRST = Frame("/p/train.py", 31, "main", "train.dataset.transform = Flip()")
LAST = Frame("/p/train.py", 32, "main", "valid.dataset.transform = Plain()")


def shared(**known: object) -> SharedSetting:
    """Two lines of train.py."""
    given = {"attribute": "transform", "value": "Plain", "first": FIRST, "last": LAST, "loaders": ()} | known
    return SharedSetting(ref=StepRef(iteration=0, step=0), dataset="Tiles", **given)  # type: ignore[arg-type]


def test_each_attribute_is_a_fact_of_its_own() -> None:
    assert shared().key() == shared(value="Flip").key()
    assert shared().key() != shared(attribute="size").key()
