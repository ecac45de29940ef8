"""Sums of microbatches."""

from __future__ import annotations

import msgspec

from debugtracer.checks.optimizer.accum_scaling import AccumScaling
from debugtracer.trace.birth import Frame
from tests.checks.optimizer.seen import call, found, order


def update(number: int, microbatches: int, divided: bool, line: int = 24) -> object:
    return order(number, *[call("backward", line, live=True, divided=divided)] * microbatches)


def test_losses_that_nobody_divides_are_a_note():
    (finding,) = found(AccumScaling(), [update(n, 4, divided=False) for n in range(6)])  # type: ignore[misc]
    assert finding.severity == "note"
    assert finding.message == (
        "step 2, rank 0: backward (train.py:24) adds up 4 microbatches per update and no loss is divided, so gradients "
        "are 4 times those of their mean; "
        "expected loss / 4. Divide it unless a sum is meant."
    )


def test_a_short_last_window_is_a_note():
    (finding,) = found(AccumScaling(), [*(update(n, 4, divided=True) for n in range(3)), update(3, 2, divided=True)])  # type: ignore[list-item]
    assert "adds up 2 microbatches in this update and 4 in others" in finding.message


def test_two_backwards_of_two_lines_and_one_that_was_cleared_are_healthy():
    two_lines = [order(n, call("backward", 20, live=True), call("backward", 21, live=True)) for n in range(5)]
    cleared = [
        order(n, call("backward", 20, live=True), call("zero_grad"), call("backward", 20, live=True)) for n in range(5)
    ]
    closures = [order(n, *[call("backward", 20, live=True)] * 5, kind="LBFGS") for n in range(5)]
    for facts in (two_lines, cleared, closures):
        assert found(AccumScaling(), facts) == []


def test_two_terms_on_one_line_are_no_microbatches_and_a_loop_on_one_line_is():
    def told(code: str, times: int = 2) -> list[object]:
        calls = [msgspec.structs.replace(call("backward", 20, live=True), frame=Frame("train.py", 20, "main", code))]
        return found(AccumScaling(), [order(n, *calls * times) for n in range(5)])

    assert told("real.backward(); fake = g(z); lost = bce(d(fake), zeros); lost.backward()") == []
    assert len(told("for part in parts: loss(part).backward()")) == 1
    assert len(told("a.backward(); b.backward()", 4)) == 1


def test_batches_of_a_loader_whose_mean_losses_nobody_divides_are_a_warning():
    calls = [call("backward", 24, live=True, microbatch=True)] * 4
    (finding,) = found(AccumScaling(), [order(n, *calls) for n in range(4)])
    assert (finding.severity, finding.kind) == ("warning", "accumulation_unscaled")
    mixed = [*calls[:3], call("backward", 24, live=True)]
    assert [f.severity for f in found(AccumScaling(), [order(n, *mixed) for n in range(4)])] == ["note"]
