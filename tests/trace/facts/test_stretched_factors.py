"""Values that are lined up with another dimension, as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.stretched_factors import StretchedFactors
from debugtracer.trace.step import StepRef


def stretched(step: int = 0, **more: Any) -> StretchedFactors:
    known: dict[str, Any] = {"function": "mul", "shape": (16, 1, 16, 16), "source": "randint", "column": "unsqueeze"}
    known |= {
        "frame": Frame("/x/noise.py", 13, "mixed", ""), "source_frame": Frame("/x/train.py", 62, "main", ""),
        "column_frame": Frame("/x/train.py", 33, "forward", ""), **more,
    }  # fmt: skip
    return StretchedFactors(ref=StepRef(iteration=step, step=step), **known)


def test_it_survives_json():
    plain = msgspec.json.decode(msgspec.json.encode(to_plain(stretched())))
    assert from_plain(StretchedFactors.word(), plain) == stretched()


def test_each_look_is_news():
    assert stretched().key() == stretched(source="rand").key() != stretched(1).key()
