"""Outputs of a model that is called several times in a step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from debugtracer.trace.facts.embedding_spread import EmbeddingSpread
from tests.observers.observing import observed
from tests.watching import under_watch

Loss = Callable[[nn.Module], Tensor]


def looks(out: Path, loss_of: Loss, width: int = 3, steps: int = 1) -> list[EmbeddingSpread]:
    """What steps with this loss emit."""

    def loop() -> None:
        torch.manual_seed(0)
        net = nn.Linear(4, width)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(steps):
            loss = loss_of(net)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return observed(out, loop, EmbeddingSpread)


def both(net: nn.Module) -> Tensor:
    return (net(torch.randn(8, 4)) - net(torch.randn(8, 4))).square().mean()


def test_two_calls_are_one_set_of_rows(tmp_path: Path):
    kept = torch.randn(16, 4)
    (fact,) = looks(tmp_path / "runs", lambda net: (net(kept[:8]) - net(kept[8:])).square().mean())
    torch.manual_seed(0)
    rows = nn.Linear(4, 3)(kept).detach()
    assert (fact.root, fact.calls, fact.rows) == ("Linear", 2, 16)
    assert float(fact.apart) == pytest.approx(float(rows.var(0, correction=0).mean().sqrt()), rel=1e-5)
    assert float(fact.size) == pytest.approx(float(rows.square().mean().sqrt()), rel=1e-5)
    assert fact.frame is not None and "net(kept[:8])" in fact.frame.code


def test_each_step_is_one_look(tmp_path: Path):
    assert [fact.ref.step for fact in looks(tmp_path / "runs", both, steps=3)] == [0, 1, 2]


def one_call(net: nn.Module) -> Tensor:
    return net(torch.randn(16, 4)).square().mean()


def target_without_graph(net: nn.Module) -> Tensor:
    with torch.no_grad():
        goal = net(torch.randn(8, 4))
    return (net(torch.randn(8, 4)) - goal).square().mean()


def detached_target(net: nn.Module) -> Tensor:
    return (net(torch.randn(8, 4)) - net(torch.randn(8, 4)).detach()).square().mean()


def equal_inputs(net: nn.Module) -> Tensor:
    return (net(torch.ones(8, 4)) - net(torch.zeros(8, 4))).square().mean()


def many_calls(net: nn.Module) -> Tensor:
    return torch.stack([net(torch.randn(8, 4)) for _ in range(20)]).square().mean()


@pytest.mark.parametrize("loss_of", [one_call, target_without_graph, detached_target, equal_inputs, many_calls])
def test_silent(tmp_path: Path, loss_of: Loss):
    assert looks(tmp_path / "runs", loss_of) == []


def test_one_number_a_row_is_no_embedding(tmp_path: Path):
    assert looks(tmp_path / "runs", both, width=1) == []


def test_calls_of_a_step_that_was_not_seen_to_its_end_are_forgotten(tmp_path: Path):
    with under_watch(tmp_path / "runs") as session:
        observer = session.dispatcher.observers["embedding-spreads"]
        both(nn.Linear(4, 3))
        assert observer.calls.data
        session.dispatcher.missed()
        assert not observer.calls.data
