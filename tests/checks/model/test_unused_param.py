"""Does every parameter of the optimizer ever take part?"""

from __future__ import annotations

from debugtracer.checks.model.unused_param import UnusedParam
from debugtracer.trace.facts.graph_reach import GraphReach
from tests.checks.facts_at import judged, ref


def reach(step: int, *idle: str) -> GraphReach:
    return GraphReach(ref=ref(step), optimizer="Adam", number=0, idle=idle)


def test_a_part_that_never_ran_is_a_note_after_fifty_updates():
    (finding,) = judged(
        UnusedParam(), [reach(0, "old.weight", "other.weight"), reach(1, "old.weight"), reach(100, "old.weight")]
    )
    assert finding.message == (
        "step 100, rank 0: 1 parameter (old.weight) that Adam holds took no part in 3 inspected steps; expected each "
        "one to be used. "
        "Call the branch or remove it."
    )
    assert finding.severity == "note"


def test_before_that_and_when_it_ran_once_it_is_silent():
    assert not judged(UnusedParam(), [reach(0, "old.weight"), reach(2, "old.weight")], loss=(1.0,) * 40)
    assert not judged(UnusedParam(), [reach(0, "old.weight"), reach(1), reach(100, "old.weight")], loss=(1.0,) * 200)


def test_a_part_is_told_once_from_the_second_look_and_the_fiftieth_step_on():
    idle = [reach(step, "old.weight", "old.bias") for step in (0, 50, 60, 120)]
    (finding,) = judged(UnusedParam(), idle, loss=(1.0,) * 200)
    assert "2 parameters (old.weight, ...) that Adam holds took no part" in finding.message
    assert (finding.place.param, finding.place.module) == ("old.weight", "old")
    assert not judged(UnusedParam(), [reach(0, "old.weight")], loss=(1.0,) * 200)
