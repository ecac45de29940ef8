"""The world after a replay is the world before it."""

from __future__ import annotations

import sys

import torch
from torch import nn

from debugtracer.recorder.state.copies import UpdateCopy
from debugtracer.recorder.state.roots import Root
from debugtracer.replay.rewind import ReplayedState, eager, hushed


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.calls = nn.BatchNorm1d(3), 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        self.last = self.norm(x)
        return self.last


class Replacing(nn.Module):
    """A forward that changes a sparse buffer in place, and puts another tensor where a buffer stood."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.register_buffer("level", torch.ones(3))
        self.register_buffer("graph", torch.eye(3).to_sparse())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            self.graph.mul_(0.5)
        self.level = self.level * 0.5
        return self.layer(x) * self.level


def test_a_buffer_that_was_replaced_or_is_sparse_is_put_back():
    model, x = Replacing(), torch.randn(5, 3)
    root = Root(model, None)
    state = root.before()
    model(x).sum().backward()
    root.after()
    level, graph = model.level, model.graph.to_dense()
    world = ReplayedState(model.parameters(), [state])
    world.rewind()
    assert torch.equal(model.level, torch.ones(3)) and torch.equal(model.graph.to_dense(), torch.eye(3))
    model(x).mean().backward()
    world.restore()
    assert model.level is level and torch.equal(model.graph.to_dense(), graph)


def test_buffers_counters_attributes_gradients_and_generators_are_put_back():
    model, x = Counting(), torch.randn(5, 3)
    root = Root(model, None)
    state = root.before()
    model(x).sum().backward()
    root.after()
    before = {k: v.clone() for k, v in model.state_dict().items()}
    grad, last, generator = model.norm.weight.grad, model.last, torch.get_rng_state()
    world = ReplayedState(model.parameters(), [state])
    world.rewind()
    assert model.norm.weight.grad is None
    assert (model.norm.num_batches_tracked.item(), model.calls) == (0, 0)
    model.extra = torch.rand(2)
    model(x).mean().backward()
    world.restore()
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    assert (model.norm.weight.grad is grad, model.last is last, model.calls, hasattr(model, "extra")) == (
        True,
        True,
        1,
        False,
    )
    assert torch.equal(torch.get_rng_state(), generator)


def test_parameters_and_state_go_back_before_an_update_and_forth_again():
    model = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    older = model.weight.detach().clone()
    copy = UpdateCopy(optimizer, list(model.parameters()))
    copy.take()
    optimizer.step()
    newer, moment = model.weight.detach().clone(), optimizer.state[model.weight]["exp_avg"].clone()
    world = ReplayedState(model.parameters(), [], copies=[copy])
    world.rewind()
    assert torch.equal(model.weight, older)
    assert optimizer.state[model.weight]["step"].item() == 1
    world.restore()
    assert torch.equal(model.weight, newer)
    assert torch.equal(optimizer.state[model.weight]["exp_avg"], moment)
    assert optimizer.state[model.weight]["step"].item() == 2


def test_leaves_that_the_replay_writes_are_put_back():
    weight = nn.Parameter(torch.ones(2))
    world = ReplayedState([], [], written=[weight])
    weight.data.fill_(5.0)
    world.restore()
    assert weight.tolist() == [1.0, 1.0]


def test_a_hushed_replay_prints_nothing(capsys):
    with hushed():
        print("again")
        print("again", file=sys.stderr)
    print("once")
    assert capsys.readouterr() == ("once\n", "")


def test_compiled_code_runs_eagerly_inside():
    seen = []

    @torch.compile(backend="eager")
    def double(x: torch.Tensor) -> torch.Tensor:
        seen.append(type(x))
        return x * 2

    with eager():
        double(torch.ones(2))
    assert seen == [torch.Tensor]


def test_a_graph_of_the_users_can_still_be_walked_backward_after_an_update_was_replayed():
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4).eval(), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    copy = UpdateCopy(optimizer, list(model.parameters()))
    copy.take()
    waiting = model(torch.randn(5, 3)).sum()
    world = ReplayedState(model.parameters(), [], copies=[copy])
    model(torch.randn(5, 3)).square().sum().backward()
    optimizer.step()
    world.rewind()
    world.restore()
    waiting.backward()
