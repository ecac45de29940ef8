"""Padding that is read, as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.read_padding import ReadPadding
from debugtracer.trace.step import StepRef


def read(step: int = 0, **more: Any) -> ReadPadding:
    known: dict[str, Any] = {"function": "__getitem__", "pad": 0, "side": "right", "place": 17, "positions": 18}
    known |= {"rows": 128, "inside": 96, "gap": 8.25, "length": 9.0, "known_by": "a mask"}
    known |= {"frame": Frame("/x/net.py", 28, "forward", ""), "made": Frame("/x/data.py", 9, "collate", ""), **more}
    return ReadPadding(ref=StepRef(iteration=step, step=step), **known)


def test_it_survives_json():
    plain = msgspec.json.decode(msgspec.json.encode(to_plain(read())))
    assert from_plain(ReadPadding.word(), plain) == read()


def test_each_look_is_news():
    assert read().key() == read(inside=4).key() != read(1).key()
