"""Numberings that part."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.parted_maps import PartedMaps
from debugtracer.trace.step import StepRef


def parted(step: int = 1, **other: Any) -> PartedMaps:
    """A numbering of items in two data sets."""
    plain: dict[str, Any] = {
        "owner": "Ratings", "name": "item_ids", "sizes": (60, 44), "shared": 44, "differ": 41, "key_shown": "i17",
        "numbers": (3, 40), "frame": Frame("/p/main.py", 9), "first_frame": Frame("/p/main.py", 8),
    }  # fmt: skip
    return PartedMaps(ref=StepRef(iteration=step, step=step), **(plain | other))


def test_it_survives_json_and_is_known_by_class_and_name() -> None:
    fact = parted()
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("Ratings", "item_ids")
