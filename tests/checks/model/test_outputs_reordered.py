"""Outputs that stand in another order than the inputs."""

from __future__ import annotations

from debugtracer.checks.model.outputs_reordered import OutputsReordered
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window

FIRST, LAST = (Frame("/home/someone/model.py", number, "forward", "") for number in (54, 107))


def judged(**more):
    values = {"trial": "row_order", "root": "Net", "changed": True, "position": 7, "length": 8, "function": "again"}
    fact = FunctionTest(ref=StepRef(iteration=0, step=0), frame=LAST, made=(FIRST,), **{**values, **more})
    return list(OutputsReordered().judge(Window(ref=fact.ref, facts={FunctionTest: (fact,)}, came={FunctionTest: 1})))


def test_an_order_that_is_taken_twice():
    (finding,) = judged()
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "targets_misaligned", LAST)
    assert finding.message == (
        "step 0, rank 0: of 8 rows of the input of Net that were changed one at a time, 7 changed the output of "
        "another row, while the targets stand in the order of the batch: the order that the rows were put in "
        "(model.py:54) is taken a second time (model.py:107); expected its inverse. Take outputs[order.argsort()]."
    )


def test_an_order_that_is_never_taken_back_is_a_note_for_the_loop_may_do_it():
    (finding,) = judged(function="")
    assert finding.severity == "note"
    assert "(model.py:54) is not taken back; expected its inverse." in finding.message


def test_other_trials_and_rows_that_stay_are_silent():
    assert judged(changed=False) == [] and judged(trial="own_row") == []
