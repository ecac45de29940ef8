"""The op table of a bad loss goes on into its backward; nothing of the training changes by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.settings import Mode
from debugtracer.trace.store.op_table import OpTable, read_ops
from tests.watching import LogHead, only, seeded, under_watch


def table_of(out: Path) -> OpTable:
    (folder,) = (out / "latest" / "incidents").iterdir()
    found = read_ops(folder)
    assert found is not None
    return found


def a_bad_step(out: Path, model: nn.Module, loss: Any = lambda made: made.mean(), **settings: Any) -> nn.Module:
    with under_watch(out, **settings):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loss(model(torch.zeros(3, 4))).backward()
        optimizer.step()
    return model


class LogOfBody(LogHead):
    """Its bad value lies on the way of the gradients."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.log(self.body(x) * 0)


def test_the_bad_value_is_followed_to_the_gradients(tmp_path: Path) -> None:
    a_bad_step(tmp_path, seeded(LogOfBody))
    table = table_of(tmp_path)
    directions = [row.direction for row in table.rows]
    assert directions.index("backward") > (table.birth or 0)
    behind = [row for row in table.rows if row.direction == "backward"]
    assert any(row.nan + row.inf for row in behind)
    assert any(row.forward_op == "aten::log" for row in behind)
    assert len(table.rows) == table.seen


def test_no_gradient_is_written_and_no_hook_that_waits_for_one_is_called(tmp_path: Path) -> None:
    called: list[Tensor] = []
    model = seeded(LogHead)
    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(called.append)
    with under_watch(tmp_path):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loss = model(torch.zeros(3, 4)).mean()
        loss.backward()
        optimizer.step()
    assert len(called) == len(list(model.parameters()))  # by the live backward alone
    assert any(row.direction == "backward" for row in table_of(tmp_path).rows)


def test_a_backward_that_fails_leaves_the_forward(tmp_path: Path) -> None:
    class Refuses(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x.log()

        @staticmethod
        def backward(ctx: Any, grad: Tensor) -> Tensor:
            raise ValueError("no derivative")

    class Model(LogHead):
        def forward(self, x: Tensor) -> Tensor:
            return Refuses.apply(self.body(x) * 0)

    with pytest.raises(ValueError, match="no derivative"):
        a_bad_step(tmp_path, seeded(Model), mode="observe")
    assert only(tmp_path).verdict is not None
    table = table_of(tmp_path)
    assert table.birth is not None and table.rows[-1].index >= table.birth


class Plays(nn.Module):
    """Gives what is no tensor: what the loop computes with it goes on in a graph that is the program's alone."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> torch.distributions.Categorical:
        return torch.distributions.Categorical(logits=self.body(x).tanh(), validate_args=False)


def played(model: nn.Module) -> list[Tensor | None]:
    """One update whose loss is NaN; what its backward leaves."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    played = model(torch.ones(1, 4))
    chances = torch.stack([played.log_prob(torch.tensor([kind])) for kind in (0, 1)])
    returns = torch.tensor([1.0])
    loss = -(chances * (returns / returns.std())).sum()
    optimizer.zero_grad()
    loss.backward()
    return [p.grad for p in model.parameters()]


@pytest.mark.parametrize("trials", [0, 8])
def test_a_graph_that_is_the_program_s_is_not_freed_by_what_is_executed_again(tmp_path: Path, trials: int) -> None:
    bare = played(seeded(Plays))
    with under_watch(tmp_path, mode=Mode.OBSERVE, trials=trials):
        watched = played(seeded(Plays))
    assert only(tmp_path).verdict.kind == "norm_degenerate_batch"
    for ours, theirs in zip(watched, bare, strict=True):
        assert ours is not None and theirs is not None and torch.equal(ours.isnan(), theirs.isnan())
