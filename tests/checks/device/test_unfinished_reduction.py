"""Parameters that DDP waits for."""

from __future__ import annotations

from debugtracer.checks.device.unfinished_reduction import UnfinishedReduction
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
