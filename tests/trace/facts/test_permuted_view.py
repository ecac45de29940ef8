"""A view of sizes in another order, as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.permuted_view import PermutedView
from debugtracer.trace.step import StepRef


def permuted(line: int = 21, **more: Any) -> PermutedView:
    known: dict[str, Any] = {"shape": (32, 128, 3), "result": (32, 3, 128), "parts": 0, "reader": "conv1d"}
    reads = Frame("/x/net.py", 22, "forward", "")
    known |= {"frame": Frame("/x/net.py", line, "forward", ""), "reader_frame": reads, **more}
    return PermutedView(ref=StepRef(iteration=0, step=0), function="view", **known)


def test_it_survives_json():
    plain = msgspec.json.decode(msgspec.json.encode(to_plain(permuted())))
    assert from_plain(PermutedView.word(), plain) == permuted()


def test_each_line_is_news():
    assert permuted().key() == permuted(parts=2).key() != permuted(40).key()
