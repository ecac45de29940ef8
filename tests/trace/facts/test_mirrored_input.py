"""A picture that was mirrored alone, as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.mirrored_input import MirroredInput
from debugtracer.trace.step import StepRef


def mirrored(**more: Any) -> MirroredInput:
    known: dict[str, Any] = {
        "loader": 0, "path": "batch[0]", "target": "batch[1]", "what": "mask", "how": "left to right",
        "samples": (3, 18, 41, 60), "compared": 11, "frame": Frame("/x/train.py", 37, "__getitem__", ""),
    }  # fmt: skip
    return MirroredInput(ref=StepRef(iteration=30, step=30), **{**known, **more})


def test_it_survives_json():
    plain = msgspec.json.decode(msgspec.json.encode(to_plain(mirrored())))
    assert from_plain(MirroredInput.word(), plain) == mirrored()


def test_each_target_is_news():
    assert mirrored().key() == mirrored(compared=12).key() != mirrored(target="batch[2]").key()
