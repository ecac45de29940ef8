"""Optimizers without a gradient, in real loops."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.observers.optimizer.no_gradient import TELL
from debugtracer.trace.events import Found
from debugtracer.trace.facts.no_gradient import NoGradient
from tests.observers.loops import data, mse, net
from tests.observers.observing import observed
from tests.watching import events, under_watch


def beside(steps: int, joins: int, kind: type[torch.optim.Optimizer] = torch.optim.SGD) -> None:
    """Two models, of which the second takes part from a step on."""
    model, other = net(), net()
    first, second = torch.optim.SGD(model.parameters(), lr=0.01), kind(other.parameters(), lr=0.01)
    for step, (x, y) in enumerate(data(steps)):
        first.zero_grad()
        out = model(x) + (other(x) if step >= joins else 0)
        mse(out, y).backward()
        first.step()
        second.step()


def test_an_optimizer_without_gradients_is_told_now_and_at_the_end(tmp_path: Path):
    facts = observed(tmp_path / "runs", lambda: beside(TELL + 6, joins=TELL + 6), NoGradient)
    assert [(f.kind, f.updates, f.looks, f.held) for f in facts] == [("SGD", TELL, 7, 4), ("SGD", TELL + 6, 7, 4)]
    assert facts[0].frame is not None
    assert facts[0].frame.code.startswith("first, second")


@pytest.mark.parametrize("trains", [True, False])
def test_where_no_backward_runs_the_calls_that_could_have_had_one_are_counted(tmp_path: Path, trains: bool) -> None:
    def loop() -> None:
        model = net().train(trains)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for x, y in data(12):
            mse(model(x), y)
            optimizer.step()

    with under_watch(tmp_path / "runs"):
        loop()
    if not trains:
        assert not list((tmp_path / "runs").glob("*/rank*")), "a run without a backward has no files of its own"
        return
    (finding,) = [e.finding for e in events(tmp_path / "runs") if isinstance(e, Found)]
    assert finding.check == "optimizer/gradient-missing"
    assert (finding.evidence["updates"], finding.evidence["forwards"]) == (12, 12)
    assert finding.place.frame is not None and finding.place.frame.code == "mse(model(x), y)"


def test_one_gradient_ends_the_question(tmp_path: Path):
    assert observed(tmp_path / "runs", lambda: beside(12, joins=5), NoGradient) == []


def test_an_optimizer_of_the_programs_own_may_need_none(tmp_path: Path):
    class Own(torch.optim.SGD):
        pass

    assert observed(tmp_path / "runs", lambda: beside(12, joins=12, kind=Own), NoGradient) == []


def test_what_is_frozen_is_another_question(tmp_path: Path):
    def loop() -> None:
        model, frozen = net(), nn.Linear(2, 2).requires_grad_(False)
        first, second = torch.optim.SGD(model.parameters(), lr=0.01), torch.optim.SGD(frozen.parameters(), lr=0.01)
        for x, y in data(12):
            first.zero_grad()
            mse(model(x), y).backward()
            first.step()
            second.step()

    assert observed(tmp_path / "runs", loop, NoGradient) == []
