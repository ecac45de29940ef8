from __future__ import annotations

from debugtracer.checks.logging.held_graph import HeldGraph
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.held_graphs import HeldGraphs
from tests.checks.windows import ref, told

LINE = Frame("/home/someone/train.py", 31, "main", "total += loss")


def fact(what: str = "loss", steps: int = 16, step: int = 18) -> HeldGraphs:
    return HeldGraphs(ref=ref(step), what=what, steps=steps, of=steps, since=0, name="total", frame=LINE)


def found(*groups):
    memories: dict = {}
    return [finding for group in groups for finding in HeldGraph().judge(told(*group, step=18, memories=memories))]


def test_a_sum_of_live_losses():
    (one,) = found([fact("output"), fact()])  # the outputs belong to the same graphs
    assert (one.severity, one.kind, one.exact, one.iteration, one.place.frame) == (
        "warning",
        "memory_leak_graph",
        False,
        0,
        LINE,
    )
    assert one.message == (
        "step 18, rank 0: the graphs of the losses of 16 past steps are alive, held by `total` (train.py:31); expected "
        "at most that of the step before. "
        "Store loss.item() or loss.detach()."
    )


def test_outputs_alone():
    (one,) = found([fact("output")])
    assert "the graphs of the model outputs of 16 past steps" in one.message


def test_it_is_said_again_only_when_it_has_grown_four_times():
    assert len(found([fact()], [fact("output", 16)], [fact(steps=64)])) == 2
