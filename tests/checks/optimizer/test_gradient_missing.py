"""An optimizer that steps with nothing."""

from __future__ import annotations

import msgspec

from debugtracer.checks.optimizer.gradient_missing import GradientMissing
from debugtracer.trace.facts.graph_reach import Cut, GraphReach
from debugtracer.trace.facts.no_gradient import NoGradient
from debugtracer.trace.facts.wiring import OptimizerWiring, Wiring
from tests.checks.optimizer.seen import at, found, line


def without(updates: int, backwards: int | None = None) -> NoGradient:
    return NoGradient(
        ref=at(updates - 1),
        optimizer=0,
        kind="SGD",
        frame=line(22),
        updates=updates,
        looks=7,
        held=4,
        backwards=updates if backwards is None else backwards,
    )


def cut(lasting: int) -> GraphReach:
    ends = Cut(function="no_grad", frame=line(30))
    return GraphReach(ref=at(0), optimizer="SGD", number=0, built=line(22), lost=("a",), lasting=lasting, cut=ends)


def test_updates_without_a_gradient_are_told():
    (finding,) = found(GradientMissing(), [without(64), without(90)], ended=True)
    assert finding.message == (
        "step 63, rank 0: SGD (train.py:22) made 64 updates and none of its 4 parameters had a gradient in 7 looks; "
        "expected one from each backward. Let the loss depend on them, or build it from the model that is called."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "parameters_not_updated", line(22))


def test_the_line_that_ends_the_graph_is_named():
    (finding,) = found(GradientMissing(), [cut(1), without(64)])
    assert "in 7 looks: no_grad (train.py:30) ends the graph; expected" in finding.message
    assert (finding.kind, finding.place.frame) == ("detached_graph", line(30))


def test_what_another_check_says_better_is_left_to_it():
    assert found(GradientMissing(), [cut(3), without(64)], ended=True) == []
    strange = OptimizerWiring(kind="SGD", frame=line(22), held=4, strangers=4)
    assert found(GradientMissing(), [Wiring(ref=at(0), params=(), optimizers=(strange,)), without(64)]) == []
    double = OptimizerWiring(kind="SGD", frame=line(22), held=4, strangers=0, shared=4)
    assert found(GradientMissing(), [Wiring(ref=at(0), params=(), optimizers=(double,)), without(64)]) == []
    elsewhere = OptimizerWiring(kind="SGD", frame=line(23), held=4, strangers=0, shared=4)
    assert len(found(GradientMissing(), [Wiring(ref=at(0), params=(), optimizers=(elsewhere,)), without(64)])) == 1


def test_a_short_run_waits_for_its_end_and_a_run_without_backward_says_nothing():
    assert found(GradientMissing(), [without(63)]) == []
    assert len(found(GradientMissing(), [without(8)], ended=True)) == 1
    assert found(GradientMissing(), [without(7)], ended=True) == []
    assert found(GradientMissing(), [without(64, backwards=31)], ended=True) == []
    assert found(GradientMissing(), [without(64, backwards=0)], ended=True) == []


def test_a_loop_that_never_calls_backward_is_an_error_at_its_end():
    seen = msgspec.structs.replace(without(80, backwards=0), forwards=80, called=line(30))
    assert found(GradientMissing(), [seen]) == []
    (finding,) = found(GradientMissing(), [seen], ended=True)
    assert (finding.severity, finding.kind, finding.place.frame) == ("error", "parameters_not_updated", line(30))
    assert finding.message == (
        "step 79, rank 0: SGD (train.py:22) made 80 updates, the model was called (train.py:30) 80 times in training "
        "mode, and no backward ever ran, so none of its 4 parameters had a gradient; expected loss.backward() before "
        "each update. Call it; in Lightning and other trainers return the loss from the training step."
    )
    for forwards, told in ((40, 1), (39, 0)):  # a schedule that is only drawn calls no model
        seen = msgspec.structs.replace(without(80, backwards=0), forwards=forwards)
        assert len(found(GradientMissing(), [seen], ended=True)) == told
    for updates, told in ((8, 1), (7, 0)):
        seen = msgspec.structs.replace(without(updates, backwards=0), forwards=updates)
        assert len(found(GradientMissing(), [seen], ended=True)) == told
