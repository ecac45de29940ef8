"""Which batch norms are of a frozen part, and how far their statistics moved."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.weights.frozen_norms import FrozenNorms, follows, frozen_part, has_initial_statistics
from debugtracer.trace.step import StepRef


def stem() -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU())


def freeze(*modules: nn.Module) -> None:
    for module in modules:
        module.requires_grad_(False)


def named(root: nn.Module) -> list[str]:
    return [name for name, _ in frozen_part(root).norms]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(6, 2)
        self.stem = stem()


def test_a_child_that_is_frozen_as_a_whole():
    net = Net()
    assert named(net) == []
    freeze(net.stem)
    part = frozen_part(net)
    assert ([name for name, _ in part.norms], part.path, len(part.weights)) == (["stem.1"], "stem", 1)
    assert named(nn.ModuleDict({"module": net})) == ["module.stem.1"]
    freeze(net)
    assert (named(net), frozen_part(net).path) == (["stem.1"], "")


def test_what_comes_before_the_first_parameter_that_trains():
    net = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Linear(6, 6), nn.BatchNorm1d(6), nn.Linear(6, 2))
    freeze(net[0], net[1], net[3])
    assert named(net) == ["1"]
    freeze(net[2])
    assert named(net) == ["1", "3"]
    freeze(net)
    net[0].requires_grad_(True)
    assert named(net) == []


def test_a_norm_alone_is_no_part():
    net = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 2))
    freeze(net[0])
    assert named(net) == []


def test_norms_that_follow_no_batches():
    assert follows(nn.BatchNorm1d(4))
    assert follows(nn.BatchNorm1d(4, momentum=None))
    assert not follows(nn.BatchNorm1d(4, momentum=0.0))
    assert not follows(nn.BatchNorm1d(4, momentum=0.9))
    assert not follows(nn.BatchNorm1d(4).eval())
    assert not follows(nn.LazyBatchNorm1d())


def test_statistics_that_were_never_learnt():
    norm = nn.BatchNorm1d(4)
    assert has_initial_statistics(norm)
    norm(torch.randn(8, 4))
    assert has_initial_statistics(norm)
    norm.num_batches_tracked.fill_(0)  # files of old versions hold no counter
    assert not has_initial_statistics(norm)
    norm.num_batches_tracked.fill_(500)
    assert not has_initial_statistics(norm)


def test_moves_are_counted_in_the_deviations_of_the_start():
    net = Net()
    freeze(net.stem)
    norm = net.stem[1]
    norm.running_var.fill_(4.0)
    group = FrozenNorms(net, frozen_part(net), StepRef(iteration=3, step=3), ())
    norm.running_mean.fill_(3.0)
    norm.running_var.fill_(1.0)
    group.measure(40)
    (move,) = group.moves
    assert (move.name, group.steps, group.whole) == ("stem.1", 37, False)
    assert (move.gap, move.ratio) == (pytest.approx(1.5, rel=1e-4), pytest.approx(4.0, rel=1e-4))
    outer = nn.ModuleDict({"net": net})
    group.rename(outer, "net")
    assert (group.moves[0].name, group.names, group.path, group.kind) == (
        "net.stem.1", ["net.stem.1"], "net.stem", "ModuleDict",
    )  # fmt: skip


def test_nothing_is_said_of_statistics_that_are_not_finite():
    net = stem()
    freeze(net)
    group = FrozenNorms(net, frozen_part(net), StepRef(iteration=0, step=0), ())
    net[1].running_mean.fill_(float("nan"))
    group.measure(40)
    assert group.moves == []
