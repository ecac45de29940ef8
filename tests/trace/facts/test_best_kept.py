"""Values of what keeps the best, as values."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.best_kept import BestKept
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef


def kept(value: float = 0.4, count: int = 0, **more: Any) -> BestKept:
    known: dict[str, Any] = {"keeper": 0, "owner": "ModelCheckpoint", "monitor": "right", "mode": "min"}
    known |= {"frame": Frame("/x/train.py", 24, "main", ""), **more}
    return BestKept(ref=StepRef(iteration=9 * count, step=9 * count), count=count, value=value, **known)


def test_it_survives_json():
    plain = msgspec.json.decode(msgspec.json.encode(to_plain(kept())))
    assert from_plain(BestKept.word(), plain) == kept()


def test_each_value_is_news():
    assert kept().key() != kept(count=1).key() != kept(count=1, keeper=1).key()
