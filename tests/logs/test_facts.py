"""Facts of a log before any judgement."""

from __future__ import annotations

from debugtracer.logs.exceptions import Raised
from debugtracer.logs.facts import LogFacts, fill
from debugtracer.trace.birth import Frame


def test_groups_fill_a_clause_and_what_did_not_take_part_is_a_question_mark():
    assert fill("{a} and {b}", {"a": "3", "b": ""}) == "3 and ?"


def test_the_crash_is_the_last_exception_and_a_forward_call_is_none():
    frames = [Frame("a.py", 1)]
    facts = LogFacts(
        "x",
        tracebacks=[
            Raised(1, frames, "E", end=9),
            Raised(2, frames, "F", end=20),
            Raised(3, frames, end=30, node="LogBackward0"),
        ],
    )
    assert facts.crash is not None
    assert facts.crash.error == "F"
    assert LogFacts("x").crash is None
