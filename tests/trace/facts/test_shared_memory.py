"""A copy that is none, as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.shared_memory import SharedMemory
from debugtracer.trace.step import StepRef


def shared(**more: Any) -> SharedMemory:
    known: dict[str, Any] = {"how": "restored", "name": "Net", "count": 4, "updates": 120}
    frame = Frame("/x/train.py", 31, "<module>", "")
    return SharedMemory(ref=StepRef(iteration=3, step=3), **{**known, "frame": frame, **more})


def test_it_survives_json():
    assert from_plain(SharedMemory.word(), msgspec.json.decode(msgspec.json.encode(to_plain(shared())))) == shared()


def test_each_place_is_news():
    assert shared().key() == shared(updates=7).key() != shared(name="Head").key()
