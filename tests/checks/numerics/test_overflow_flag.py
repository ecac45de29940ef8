"""The overflow flag of a device that writes the largest number."""

from __future__ import annotations

from debugtracer.checks.numerics.overflow_flag import OverflowFlag
from debugtracer.trace.facts.overflow_flag import OverflowFlag as Flag
from debugtracer.trace.finding import Finding
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window


def judged(*facts: Flag) -> list[Finding]:
    found: list[Finding] = []
    memories: dict[str, dict[object, object]] = {}
    for fact in facts:
        found += OverflowFlag().judge(Window(ref=fact.ref, facts={Flag: [fact]}, came={Flag: 1}, memories=memories))
    return found


def a_flag(step: int, since: int) -> Flag:
    return Flag(ref=StepRef(iteration=step, step=step), device="npu", since=since)


def test_it_is_told_once_with_the_steps_it_speaks_of():
    (finding,) = judged(a_flag(1, 0), a_flag(100, 2))
    assert finding.severity == "note"
    assert finding.message == (
        "step 1, rank 0: the overflow flag of npu was set after step 0; expected it clear: a result was beyond the "
        "range of its dtype and was written as "
        "the largest number. Lower the loss scale, or compute that op in float32."
    )


def test_in_the_first_step_it_names_that_step():
    (finding,) = judged(a_flag(0, 0))
    assert "was set in this step; expected it clear" in finding.message
