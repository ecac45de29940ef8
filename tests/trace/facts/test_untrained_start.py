"""A start that is never trained, as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.untrained_start import UntrainedStart
from debugtracer.trace.step import StepRef


def start(**more: Any) -> UntrainedStart:
    known: dict[str, Any] = {"root": "GPT", "first": 6, "steps": 3, "given": 6, "loss": "cross_entropy"}
    known |= {
        "loss_frame": Frame("/x/model.py", 237, "forward", ""), "frame": Frame("/x/model.py", 252, "generate", ""),
        "made": (Frame("/x/train.py", 60, "__getitem__", ""),), **more,
    }  # fmt: skip
    return UntrainedStart(ref=StepRef(iteration=300, step=300), **known)


def test_it_survives_json():
    plain = msgspec.json.decode(msgspec.json.encode(to_plain(start())))
    assert from_plain(UntrainedStart.word(), plain) == start()


def test_each_place_is_news():
    assert start().key() == start(steps=9).key() != start(first=7, given=7).key()
