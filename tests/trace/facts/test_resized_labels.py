"""Targets that were resized, as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.resized_labels import ResizedLabels
from debugtracer.trace.step import StepRef


def resized(line: int = 20, **more: Any) -> ResizedLabels:
    known: dict[str, Any] = {"function": "interpolate", "mode": "bilinear", "pixels": 4000, "stray": 300}
    known |= {"ids": (1, 2, 3), "samples": (7, 2), "frame": Frame("/x/data.py", line, "__call__", ""), **more}
    return ResizedLabels(ref=StepRef(iteration=0, step=0), **known)


def test_it_survives_json():
    plain = msgspec.json.decode(msgspec.json.encode(to_plain(resized())))
    assert from_plain(ResizedLabels.word(), plain) == resized()


def test_each_line_is_news():
    assert resized().key() == resized(stray=2).key() != resized(21).key()
