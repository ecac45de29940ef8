"""Terms of a loss that compare a value with itself."""

from __future__ import annotations

from debugtracer.checks.model.self_compared import SelfCompared
from debugtracer.trace.facts.self_comparison import SelfComparison
from tests.checks.optimizer.seen import at, found, line


def seen(step: int, number: int = 25) -> SelfComparison:
    return SelfComparison(ref=at(step), function="kl_div", shape=(64, 10), frame=line(number), sum_frame=line(27))


def test_it_is_said_once_with_both_lines():
    (finding,) = found(SelfCompared(), [seen(step) for step in range(4)])
    assert (finding.severity, finding.kind) == ("warning", "detached_graph")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(25), line(27))
    assert finding.message == (
        "step 1, rank 0: kl_div (train.py:25) compares a value of shape (64, 10) with itself and has no graph, and its "
        "result is a term of the loss (train.py:27), in 2 inspected steps: 0 whatever the weights; expected the "
        "prediction of the trained network on one side. Give it as the first argument."
    )


def test_one_look_or_one_of_each_line_is_silent():
    assert found(SelfCompared(), [seen(0), seen(0), seen(1, 40)]) == []
