"""A text that is too long."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.long_text import LongText
from debugtracer.trace.step import StepRef


def a_long_text(**other: Any) -> LongText:
    """Of 67 tokens before 64 positions."""
    plain: dict[str, Any] = {
        "limit": 80, "cut": Frame("/p/dataset.py", 16), "written": Frame("/p/train.py", 34)
    }  # fmt: skip
    return LongText(ref=StepRef(iteration=5, step=5), tokens=67, positions=64, **(plain | other))


def test_it_survives_json() -> None:
    for fact in (a_long_text(), a_long_text(limit=None, cut=None, written=None)):
        assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
