"""Plain tensors in optimizers, in real loops."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from debugtracer.observers.optimizer.plain_tensors import hold_plain_alone, plain_tensors
from debugtracer.trace.facts.graph_reach import LossWithoutGraph
from debugtracer.trace.facts.plain_tensors import PlainTensors
from tests.observers.loops import data, mse, plain
from tests.observers.observing import observed


def tuned(code: Tensor, layer: nn.Linear, later: int = 99) -> None:
    optimizer = torch.optim.Adam([code, *(p for p in layer.parameters() if p.requires_grad)], lr=0.01)
    for step, (x, y) in enumerate(data(5)):
        if step == later:
            code.requires_grad = True
        optimizer.zero_grad()
        mse(layer(x + code), y).backward()
        optimizer.step()


def test_a_code_that_never_asks_for_a_gradient_is_told_at_the_end(tmp_path: Path):
    def loop() -> None:
        code = torch.zeros(4)
        tuned(code, nn.Linear(4, 1))

    facts = observed(tmp_path / "runs", loop, PlainTensors)
    assert [(f.looks, f.count, f.held, f.shape) for f in facts] == [(3, 1, 3, (4,))]
    assert facts[0].made is not None and facts[0].made.code == "code = torch.zeros(4)"
    assert facts[0].built is not None and "torch.optim.Adam" in facts[0].built.code


def test_where_nothing_else_is_trained_the_backward_is_told(tmp_path: Path):
    def loop() -> None:
        code = torch.zeros(4)
        with pytest.raises(RuntimeError, match="does not require grad"):
            tuned(code, nn.Linear(4, 1).requires_grad_(False))

    (fact,) = observed(tmp_path / "runs", loop, PlainTensors)
    assert (fact.looks, fact.count, fact.held) == (0, 1, 1)
    assert fact.loose is not None and ".backward()" in fact.loose.code
    assert fact.made is not None and fact.made.code == "code = torch.zeros(4)"
    (loose,) = observed(tmp_path / "again", loop, LossWithoutGraph)
    assert loose.plain


def test_one_that_asks_later_a_parameter_that_is_frozen_and_layers_say_nothing(tmp_path: Path):
    assert observed(tmp_path / "later", lambda: tuned(torch.zeros(4), nn.Linear(4, 1), 4), PlainTensors) == []
    frozen = nn.Parameter(torch.zeros(4), requires_grad=False)
    assert observed(tmp_path / "frozen", lambda: tuned(frozen, nn.Linear(4, 1)), PlainTensors) == []
    assert (
        observed(tmp_path / "asks", lambda: tuned(torch.zeros(4, requires_grad=True), nn.Linear(4, 1)), PlainTensors)
        == []
    )
    assert observed(tmp_path / "plain", lambda: plain(4, torch.optim.Adam), PlainTensors) == []


def test_a_copy_whose_gradient_is_written_has_one():
    copy = torch.zeros(3)
    optimizer = torch.optim.SGD([copy], lr=0.1)
    assert plain_tensors(optimizer) == [copy] and hold_plain_alone([optimizer])
    copy.grad = torch.ones(3)
    assert plain_tensors(optimizer) == [] and not hold_plain_alone([optimizer])
    assert not hold_plain_alone([])
    both = torch.optim.SGD([torch.zeros(2), nn.Parameter(torch.zeros(2))], lr=0.1)
    assert len(plain_tensors(both)) == 1 and not hold_plain_alone([both])


def test_codes_that_are_written_or_take_turns_say_nothing(tmp_path: Path):
    def written() -> None:
        code, layer = torch.zeros(4), nn.Linear(4, 1)
        optimizer = torch.optim.Adam([code, *layer.parameters()], lr=0.01)
        for x, y in data(6):
            optimizer.zero_grad()
            mse(layer(x + code), y).backward()
            optimizer.step()
            code.lerp_(x.mean(0), 0.1)

    def turns() -> None:
        codes, layer = [torch.zeros(4), torch.zeros(4)], nn.Linear(4, 1)
        optimizer = torch.optim.SGD([*codes, *layer.parameters()], lr=0.01)
        for step, (x, y) in enumerate(data(6)):
            for number, code in enumerate(codes):
                code.requires_grad_(number == step // 5)
            optimizer.zero_grad(set_to_none=True)
            mse(layer(x + codes[0] + codes[1]), y).backward()
            optimizer.step()

    assert observed(tmp_path / "written", written, PlainTensors) == []
    assert observed(tmp_path / "turns", turns, PlainTensors) == []


def test_a_loss_cut_off_beside_another_optimizer_is_told_by_others(tmp_path: Path):
    def loop() -> None:
        delta, layer = torch.zeros(4), nn.Linear(4, 1)
        torch.optim.SGD([delta], lr=0.1)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for x, y in data(1):
            optimizer.zero_grad()
            with torch.no_grad():
                loss = mse(layer(x + delta), y)
            with pytest.raises(RuntimeError, match="does not require grad"):
                loss.backward()

    assert observed(tmp_path / "facts", loop, PlainTensors) == []
