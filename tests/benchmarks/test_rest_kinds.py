"""The least that would see a bad step: it reads the loss before a backward and the gradients before an update, and
leaves torch as it was."""

from __future__ import annotations

import pytest
import torch
from benchmarks.rest_kinds import Floor, good


def test_it_reads_the_loss_and_one_norm_of_the_gradients() -> None:
    weight = torch.nn.Parameter(torch.tensor([3.0, 4.0]))
    optimizer, floor, before = torch.optim.SGD([weight], lr=1.0), Floor(None), torch.autograd.backward
    floor.come()
    (weight.square().sum() / 2).backward()
    floor.step(optimizer, torch.optim.SGD.step, (), {})
    floor.leave()
    assert floor.rows == [(12.5, 5.0)]
    assert torch.autograd.backward is before
    assert weight.tolist() == [0.0, 0.0]


def test_a_closure_runs_once_and_its_gradients_are_read() -> None:
    weight = torch.nn.Parameter(torch.tensor([3.0, 4.0]))
    optimizer, floor, calls = torch.optim.SGD([weight], lr=1.0), Floor(None), []

    def closure() -> torch.Tensor:
        loss = weight.square().sum() / 2
        loss.backward()
        calls.append(1)
        return loss

    assert floor.step(optimizer, torch.optim.SGD.step, (closure,), {}).item() == 12.5
    assert (calls, [norm for _, norm in floor.rows]) == ([1], [5.0])


def test_without_an_optimizer_the_gradients_are_read_after_the_backward() -> None:
    weight = torch.nn.Parameter(torch.tensor([3.0, 4.0]))
    floor = Floor(lambda: [weight])
    floor.come()
    (weight.square().sum() / 2).backward()
    floor.leave()
    assert floor.rows == [(12.5, 5.0)]


def test_what_is_not_finite_is_no_healthy_program() -> None:
    with pytest.raises(ArithmeticError, match="nan"):
        good(float("nan"))
