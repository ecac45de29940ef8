"""Statistics of frozen parts in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.observers.weights import moved_statistics
from debugtracer.trace.facts.moved_statistics import MovedStatistics
from tests.observers.observing import observed


class Net(nn.Module):
    def __init__(self, **more: Any) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8, **more), nn.ReLU())
        self.head = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.stem(x))


def taught(**more: Any) -> Net:
    """A model whose statistics are those of many batches, as a file would have them; its stem is frozen."""
    torch.manual_seed(0)
    net = Net(**more)
    if net.stem[1].running_mean is not None:
        net.stem[1].running_mean.normal_()
        net.stem[1].num_batches_tracked.fill_(900)
    net.stem.requires_grad_(False)
    return net


def fit(net: nn.Module, steps: int = 30, each: Callable[[int], Any] = lambda step: None, rows: int = 16) -> None:
    net.train()
    go_on(net, steps, each, rows)


def go_on(net: nn.Module, steps: int = 30, each: Callable[[int], Any] = lambda step: None, rows: int = 16) -> None:
    optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.01)
    for step in range(steps):
        nn.functional.cross_entropy(net(8 + torch.randn(rows, 6)), torch.randint(0, 2, (rows,))).backward()
        optimizer.step()
        optimizer.zero_grad()
        each(step)


def told(folder: Path, loop: Callable[[], Any]) -> list[MovedStatistics]:
    return observed(folder, loop, MovedStatistics)


def test_a_frozen_stem_in_training_mode(tmp_path: Path):
    net = taught()
    (fact,) = told(tmp_path, lambda: fit(net))
    assert (fact.root, fact.part, fact.module, fact.norms, fact.steps) == ("Net", "stem", "stem.1", 1, 30)
    assert (fact.frame.code, fact.on_root, fact.whole) == ("net.train()", True, False)
    assert fact.gap > 0.5


def test_the_only_line_that_freezes(tmp_path: Path, monkeypatch):
    asked = []
    monkeypatch.setattr(moved_statistics, "freezing_line", lambda files: asked.extend(files))
    net = taught()
    (fact,) = told(tmp_path, lambda: fit(net))
    assert (set(asked), fact.frozen_by) == ({__file__}, None)


def test_a_model_that_is_gone_when_the_run_ends(tmp_path: Path):
    def loop() -> None:
        net = taught()
        fit(net, 60)
        net.eval()
        net(torch.randn(4, 6))

    (fact,) = told(tmp_path, loop)
    assert (fact.module, fact.steps, fact.frame.code) == ("stem.1", 60, "net.train()")


def test_a_stem_without_a_graph_that_is_called_by_itself(tmp_path: Path):
    net = taught()

    def loop() -> None:
        optimizer = torch.optim.SGD(net.head.parameters(), lr=0.01)
        for _ in range(30):
            net.train()
            with torch.no_grad():
                seen = net.stem(8 + torch.randn(16, 6))
            net.head(seen).mean().backward()
            optimizer.step()

    (fact,) = told(tmp_path, loop)
    assert (fact.root, fact.part, fact.module, fact.on_root) == ("Net", "stem", "stem.1", True)


def test_a_stem_that_was_trained_before(tmp_path: Path):
    net = Net()

    def loop() -> None:
        fit(net, 40)
        net.stem.requires_grad_(False)
        fit(net, 40)

    (fact,) = told(tmp_path, loop)
    assert (fact.ref.step, fact.steps) == (40, 40)
    assert fact.gap < 0.4


def quiet_mode(net: Net) -> None:
    net.train()
    net.stem.eval()
    go_on(net)


def one_by_one(net: Net) -> None:
    net.eval()
    net.stem[1].train()
    go_on(net)


def by_hand(net: Net) -> None:
    net.eval()
    net.stem[1].training = True
    go_on(net)


def adapted_first(net: Net) -> None:
    net.train()
    for _ in range(10):
        net(torch.randn(16, 6))
    net.eval()
    go_on(net)


def adapted_alone(net: Net) -> None:
    """What it makes of the batches then goes to a model of its own."""
    net.train()
    for _ in range(60):
        net(8 + torch.randn(16, 6))
    net.eval()
    with torch.no_grad():
        seen = net.stem(8 + torch.randn(16, 6))
    head = nn.Linear(8, 2)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.01)
    for _ in range(40):
        head(seen).mean().backward()
        optimizer.step()


def adapted_long(net: Net) -> None:
    net.train()
    for _ in range(60):
        net(8 + torch.randn(16, 6))
    go_on(net)


def unfrozen_later(net: Net) -> None:
    fit(net, 30)
    net.stem.requires_grad_(True)
    fit(net, 5)


def begun_anew(net: Net) -> None:
    net.stem[1].reset_running_stats()
    fit(net)


def averaged(net: Net) -> None:
    def blend(step: int) -> None:
        for p in net.stem.parameters():
            p.data = 0.999 * p.data + 0.001 * torch.randn_like(p)

    fit(net, each=blend)


def copied_now_and_then(net: Net) -> None:
    online = taught()
    fit(net, 60, each=lambda step: step % 30 == 25 and net.stem.load_state_dict(online.stem.state_dict()))


def trained_norm(net: Net) -> None:
    net.stem[1].requires_grad_(True)
    fit(net)


def turns(net: Net) -> None:
    """The stem trains in every other step, as a discriminator does."""
    made = nn.Linear(6, 6)
    ours, theirs = (torch.optim.SGD(part.parameters(), lr=0.01) for part in (net, made))
    for _ in range(40):
        net.requires_grad_(True)
        net(made(torch.randn(16, 6)).detach()).mean().backward()
        ours.step()
        net.requires_grad_(False)
        net(made(torch.randn(16, 6))).mean().backward()
        theirs.step()


@pytest.mark.parametrize(
    "loop",
    [
        quiet_mode, one_by_one, by_hand, adapted_first, adapted_alone, unfrozen_later, begun_anew, averaged,
        copied_now_and_then, trained_norm, turns,
    ],
)  # fmt: skip
def test_what_is_meant_or_trains_is_left_out(tmp_path: Path, loop):
    net = taught()
    assert told(tmp_path, lambda: loop(net)) == []


def test_batches_before_the_training_do_not_count(tmp_path: Path):
    net = taught()
    (fact,) = told(tmp_path, lambda: adapted_long(net))
    assert fact.gap < 0.4


@pytest.mark.parametrize("more", [{"track_running_stats": False}, {"momentum": 0.0}])
def test_norms_without_moving_statistics(tmp_path: Path, more):
    net = taught(**more)
    assert told(tmp_path, lambda: fit(net)) == []


def test_a_frozen_model_with_random_weights_has_to_learn_its_statistics(tmp_path: Path):
    net = Net()
    net.stem.requires_grad_(False)
    assert told(tmp_path, lambda: fit(net, 120)) == []


def test_a_few_updates_say_nothing(tmp_path: Path):
    net = taught()
    assert told(tmp_path, lambda: fit(net, 12)) == []


def test_weights_that_come_from_a_file_after_a_first_look(tmp_path: Path):
    net, stored = Net(), taught().state_dict()
    net.stem.requires_grad_(False)

    def loop() -> None:
        net(torch.randn(4, 6))
        net.load_state_dict(stored)
        fit(net)

    assert len(told(tmp_path, loop)) == 1
