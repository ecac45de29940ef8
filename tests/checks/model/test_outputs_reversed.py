"""Answers that belong to other positions."""

from __future__ import annotations

from debugtracer.checks.model.outputs_reversed import OutputsReversed
from debugtracer.trace.facts.function_test import FunctionTest
from tests.checks.optimizer.seen import at, found, line


def read(how, *, changed=True, trial="reading_order"):
    frame = line(31) if how == "mixed" else None
    return FunctionTest(
        ref=at(0), trial=trial, root="Tagger", changed=changed, function=how, length=24, frame=frame
    )  # fmt: skip


def test_two_halves_of_other_positions():
    (one,) = found(OutputsReversed(), [read("mixed")])
    assert (one.severity, one.kind, one.place.frame) == ("warning", "targets_misaligned", line(31))
    assert one.message == (
        "step 0, rank 0: the output of Tagger at each of 24 positions has seen the positions up to its own and as many "
        "at the other end, and none between; the sequence is turned round at train.py:31; expected what comes after its"
        " own. Turn the outputs round again."
    )


def test_answers_from_the_end():
    (one,) = found(OutputsReversed(), [read("reversed")])
    assert "the positions at the other end alone" in one.message and "expected its own." in one.message


def test_other_trials_are_silent():
    assert found(OutputsReversed(), [read("mixed", changed=False), read("mixed", trial="any_input")]) == []
