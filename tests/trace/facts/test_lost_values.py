"""Values that were lost on the way, as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.lost_values import LostValues
from debugtracer.trace.step import StepRef


def lost(**more: Any) -> LostValues:
    told: dict[str, Any] = {
        "ref": StepRef(iteration=246, step=246), "module": "upper", "shape": (384, 64), "value": 4.02, "usual": 1.15,
        "looks": 5, "frame": Frame("/x/train.py", 46, "forward", "hidden = hidden.to(self.second)"),
    }  # fmt: skip
    return LostValues(**(told | more))


def test_it_survives_json():
    fact = lost(path="batch[1]", samples=(3, 9))
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_each_step_is_news():
    assert lost().key() == lost(looks=9).key() != lost(ref=StepRef(iteration=9, step=9)).key()
