"""By what the losses of an accumulation were divided, in real loops."""

from __future__ import annotations

import pytest
import torch
from accelerate import Accelerator
from torch import nn

from debugtracer.observers.loss.loss_divisions import divided_twice
from debugtracer.trace.facts.loss_division import LossDivision
from tests.observers.told import facts
from tests.watching import under_watch

PARTS = 4


def run(out, loss_of, by_library=True, steps=12):
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=PARTS)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if by_library:
        model, optimizer = accelerator.prepare(model, optimizer)
    with under_watch(out):
        for step in range(steps):
            loss = loss_of(model(torch.randn(6, 4)).square().mean())
            if by_library:
                with accelerator.accumulate(model):
                    accelerator.backward(loss)
                    optimizer.step()
                    optimizer.zero_grad()
                continue
            loss.backward()
            if step % PARTS == PARTS - 1:
                optimizer.step()
                optimizer.zero_grad()
    return facts(out, LossDivision)


def test_a_loss_that_the_program_and_accelerate_divide_is_told_in_each_inspected_step(tmp_path):
    seen = run(tmp_path, lambda loss: loss / PARTS)
    assert [(fact.backwards, fact.library) for fact in seen] == [(PARTS, "accelerate")] * 3
    assert "accelerator.backward(loss)" in seen[0].frame.code


def test_terms_that_are_divided_one_by_one_are_told(tmp_path):
    seen = run(tmp_path, lambda loss: loss / PARTS + 0.1 * (loss.sqrt() * (1 / PARTS)))
    assert [fact.backwards for fact in seen] == [PARTS] * 3


@pytest.mark.parametrize("loss_of", [lambda loss: loss, lambda loss: loss / 2], ids=["once", "by another number"])
def test_one_division_and_another_number_are_left_alone(tmp_path, loss_of):
    assert run(tmp_path, loss_of) == []


def test_two_divisions_of_the_program_may_be_meant(tmp_path):
    assert run(tmp_path, lambda loss: loss / PARTS / PARTS, by_library=False) == []


def test_what_is_no_quotient_of_a_quotient_has_no_number():
    x = torch.ones(3, requires_grad=True)
    assert divided_twice((x / 4 / 4).sum()) is None
    assert divided_twice(x.mean() / 4) is None
    assert divided_twice(x.mean() / 4 / 2) is None
    assert divided_twice(x.mean() / 4 / 4) == 4.0


def test_every_term_counts_and_a_fraction_is_a_division():
    x = torch.ones(3, requires_grad=True)
    one, other = x.mean(), x.square().mean()
    assert divided_twice((one / 4 + 0.3 * (other / 4)) / 4) == 4.0
    assert divided_twice((one / 4 + 0.3 * other) / 4) is None
    assert divided_twice(one * (1 / 3) / 3) == 3.0
    assert divided_twice((0.5 * (one + other) / 4).double() / 4) == 4.0


def test_a_mean_of_terms_or_of_rows_is_no_division_for_the_microbatches():
    x = torch.ones(4, requires_grad=True)
    parts = [x.square().mean() * n for n in range(1, 5)]
    assert divided_twice(sum(parts[1:], parts[0]) / 4 / 4) is None
    assert divided_twice(sum(parts) / 4 / 4) is None
    assert divided_twice(torch.stack(parts).sum() / 4 / 4) is None
    assert divided_twice(nn.functional.mse_loss(x, torch.zeros(4), reduction="sum") / 4 / 4) is None
