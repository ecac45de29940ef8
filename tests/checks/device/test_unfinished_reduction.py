"""Parameters that DDP waits for."""

from __future__ import annotations

from debugtracer.checks.device.unfinished_reduction import UnfinishedReduction
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import UNFINISHED
from tests.checks.crashes import a_crash, silent_on_another_error, told


def test_indices_become_names():
    text = (
        "Expected to have finished reduction in the prior iteration before starting a new one. ... which did not "
        "receive grad for rank 0: 2 3"
    )
    (finding,) = told(UnfinishedReduction(), a_crash(text, names=("a.weight", "a.bias", "aux.weight", "aux.bias")))
    assert finding.message == (
        "step 5, rank 0: aux.weight and 1 more of 4 parameters got no gradient in the iteration before; expected one "
        "for each parameter of a DDP model. "
        "Pass find_unused_parameters=True, or let them enter the loss."
    )
    assert (finding.place.param, finding.place.module) == ("aux.weight", "aux")


def test_another_exception_is_none_of_its_business():
    silent_on_another_error(UnfinishedReduction())


def test_a_layer_that_is_called_under_a_condition_is_named_with_its_line():
    text = f"{UNFINISHED} ... did not receive grad for rank 1: 2"
    branch = Frame("/home/someone/model.py", 27, "forward", "box = self.box(h) if some else h")
    crash = a_crash(text, names=("a.weight", "a.bias", "box.weight"), branches={"box": branch})
    (finding,) = told(UnfinishedReduction(), crash)
    assert "in the iteration before, its layer is called under a condition (model.py:27); expected" in finding.message
    assert finding.place.frame == branch
