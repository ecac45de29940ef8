"""Two updates running."""

from __future__ import annotations

from typing import Any

from debugtracer.checks.optimizer.sequence import running
from debugtracer.trace.file_line import spot
from tests.checks.optimizer.seen import line, order


def test_the_second_of_two_bad_updates_gives_the_first():
    memory: dict[Any, Any] = {}
    facts = [order(n) for n in range(4)]
    assert [running(memory, fact, bad) for fact, bad in zip(facts, (True, False, True, True), strict=True)] == [
        None,
        None,
        None,
        facts[2],
    ]


def test_a_line_in_a_message():
    assert (spot(line(53)), spot(None)) == (" (train.py:53)", "")
