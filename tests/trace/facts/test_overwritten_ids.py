"""Ids that are labels."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.overwritten_ids import OverwrittenIds
from debugtracer.trace.step import StepRef


def overwritten(**other: Any) -> OverwrittenIds:
    """Four of nine."""
    plain: dict[str, Any] = {"label": -100, "ids": 9, "overwritten": 4, "frame": Frame("/p/train.py", 148)}
    return OverwrittenIds(ref=StepRef(iteration=5, step=5), **(plain | other))


def test_it_survives_json() -> None:
    for fact in (overwritten(), overwritten(frame=None)):
        assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
