"""A past leads to its step only when it is whole: every optimizer, parameter, gradient and attribute of its steps."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer import session
from debugtracer.recorder.state.snapshot_ring import EVERY
from tests.recorder.ringed import Training
from tests.watching import same_bits, under_watch


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


@pytest.fixture
def training(tmp_path):
    made: list[Training] = []

    def make(**more: Any) -> Training:
        made.append(Training(tmp_path, **more))
        return made[-1]

    yield make
    for one in made:
        one.watch.__exit__(None, None, None)


def test_an_optimizer_that_was_built_since_is_not_in_the_snapshot(training):
    one = training()
    one.go(2 * EVERY)
    one.optimizer = torch.optim.SGD(one.model.parameters(), lr=0.1)
    one.go(2)
    assert one.ring.past(2 * EVERY + 1) is None
    assert one.ring.longest() is None
    one.go(2 * EVERY)
    past = one.ring.longest()
    assert past is not None
    assert past.snapshot.step > 2 * EVERY


def test_parameters_that_joined_a_group_since_are_not_in_the_snapshot(training):
    one = training()
    one.go(2 * EVERY)
    one.model.append(nn.Linear(1, 1))
    one.optimizer.add_param_group({"params": one.model[-1].parameters()})
    one.go(2)
    assert one.ring.past(2 * EVERY + 1) is None
    one.go(2 * EVERY)
    past = one.ring.longest()
    assert past is not None
    assert sum(len(c.parameters) for c in past.snapshot.copies) == len(list(one.model.parameters()))


def test_an_optimizer_built_before_we_came_is_kept_as_well(tmp_path):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(tmp_path) as watching:
        watching.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        for _ in range(8):
            optimizer.zero_grad()
            model(torch.randn(5, 4)).square().mean().backward()
            optimizer.step()
        assert watching.ring.past(7) is not None


def test_gradients_are_kept_only_where_updates_add_to_them(training):
    one = training()
    one.go(3 * EVERY)
    assert one.ring.held[-1].gradients is None
    one.clears = False
    one.go(2 * EVERY)
    assert len(one.ring.held[-1].gradients) == len(list(one.model.parameters()))
    past = one.ring.past(5 * EVERY - 1)
    assert past is not None
    assert past.snapshot.gradients is not None


@pytest.mark.parametrize("shift", [0, 1])
def test_a_snapshot_between_two_optimizers_of_one_backward_holds_what_the_second_needs(training, shift):
    one = training()
    rest = torch.optim.SGD(one.model[3].parameters(), lr=0.1)
    one.optimizer = torch.optim.SGD(one.model[0].parameters(), lr=0.1)
    one.ring.is_due = lambda step: (step - 1 - shift) % EVERY == 0
    for _ in range(12):
        one.model.zero_grad()
        one.model(torch.randn(5, 4)).square().mean().backward()
        one.optimizer.step()
        rest.step()
    last = one.ring.tapes[-1].number
    begins = [next(e.kind for e in s.entries) for s in one.ring.tapes if s.number == one.ring.held[-1].number]
    assert begins == ["zero_grad" if shift else "step"]
    assert one.ring.past(23).segments[-1].number == last


def test_attributes_that_hold_a_graph_are_not_kept(training):
    one = training()

    class Remembering(nn.Linear):
        calls = 0

        def forward(self, x: Tensor) -> Tensor:
            self.calls += 1
            self.last = super().forward(x)
            return self.last

    one.model = Remembering(4, 1)
    one.optimizer = torch.optim.SGD(one.model.parameters(), lr=0.1)
    one.go(EVERY + 4)
    kept = {name: value for _, name, value, _ in one.ring.held[-1].roots[0].attributes.values}
    assert kept["calls"] == one.ring.held[-1].step
    assert "last" not in kept


def test_gradients_come_back_as_tensors_of_our_own(training):
    one = training()
    one.clears = False
    one.go(2 * EVERY)
    snapshot, users = one.ring.held[-1], [p.grad for p in one.model.parameters()]
    values = [g.clone() for g in users]
    snapshot.restore_gradients()
    for parameter, (_, kept) in zip(one.model.parameters(), snapshot.gradients, strict=True):
        assert same_bits(parameter.grad, kept)
        parameter.grad.zero_()
        assert kept.abs().sum() > 0
    assert all(map(same_bits, users, values))
