"""A crash as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.facts.crash import Crash, IntegerRows
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.step import StepRef


def test_it_survives_json():
    rows = IntegerRows(name="target", values=((0, 7), ()), indices=(1, 2))
    crash = Crash(ref=StepRef(iteration=1, step=1), error="IndexError", message="Target 7 is out of bounds.", rows=rows)
    assert from_plain("crash/Crash", msgspec.json.decode(msgspec.json.encode(to_plain(crash)))) == crash
