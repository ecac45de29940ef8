"""Facts about the parts of a step: what is the program's, what is ours, and which step was measured whole."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from debugtracer.recorder.phases import Phases
from debugtracer.trace.store.reader import open_trace
from tests.recorder.watched import Watched
from tests.watching import under_watch

SLOW_S = 0.02


class Slow(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 1)

    def forward(self, x: Tensor) -> Tensor:
        time.sleep(SLOW_S)
        out: Tensor = self.inner(x)
        return out


def phases(ours: SimpleNamespace | None = None) -> Phases:
    return Phases(ours or SimpleNamespace(own_s=0.0, incident_s=0.0))


def test_calls_of_one_part_add_up_and_the_next_step_begins_with_nothing() -> None:
    known = phases()
    for _ in range(2):
        known.begin()
        time.sleep(0.002)
        known.end("forward_s")
    assert 0.004 <= known.take(0)["forward_s"] < 1
    assert known.take(1) == {}


def test_what_was_ours_is_in_no_part() -> None:
    ours = SimpleNamespace(own_s=1.0, incident_s=2.0)
    known = phases(ours)
    known.begin()
    ours.own_s, ours.incident_s = 500.0, 500.0
    known.end("forward_s")
    assert known.take(0) == {"forward_s": 0.0}


def test_an_end_without_a_begin_is_none() -> None:
    known = phases()
    known.end("backward_s")
    assert known.take(0) == {}


def test_a_step_after_one_that_nobody_measured_is_not_told() -> None:
    """Observers that rest may begin again in the middle of a step."""
    known = phases()
    told = []
    for step in (0, 3, 4):
        known.begin()
        known.end("update_s")
        told.append(bool(known.take(step)))
    assert told == [True, False, True]


def test_each_step_of_a_run_has_its_parts_within_its_time(tmp_path: Path) -> None:
    model = Slow()
    with under_watch(tmp_path, own_share=1e9):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.randn(2, 3)).mean().backward()
            optimizer.step()
    trace = open_trace(tmp_path)
    parts = [trace.series(name) for name in ("forward_s", "backward_s", "update_s", "step_s")]
    assert all(list(steps) == [0, 1, 2, 3] for steps, _ in parts)
    for forward, backward, update, whole in zip(*(values for _, values in parts), strict=True):
        assert forward >= SLOW_S
        assert min(backward, update) > 0
        assert forward + backward + update <= whole


def test_a_step_that_died_leaves_nothing_to_the_next() -> None:
    model = nn.Linear(3, 1)
    with Watched() as watched:
        model(torch.randn(2, 3))
        watched.state.settle()
        assert watched.state.phases.seconds == {}


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.LBFGS])
def test_calls_inside_an_update_are_told_once(tmp_path: Path, kind: type[torch.optim.Optimizer]) -> None:
    """The forward and backward of a closure are no part of the update's seconds."""
    model = Slow()
    with under_watch(tmp_path, own_share=1e9):
        optimizer = kind(model.parameters(), lr=0.1)

        def closure() -> Tensor:
            optimizer.zero_grad()
            loss: Tensor = model(torch.ones(2, 3)).mean()
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)
    trace = open_trace(tmp_path)
    whole = dict(zip(*trace.series("step_s"), strict=True))
    told = [dict(zip(*trace.series(name), strict=True)) for name in ("forward_s", "backward_s", "update_s")]
    assert told[0].keys() == whole.keys()
    assert all(sum(part.get(step, 0.0) for part in told) <= seconds for step, seconds in whole.items())
