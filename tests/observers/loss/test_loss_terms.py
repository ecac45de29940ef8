"""Terms of a sum."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.trace.facts.loss_terms import LossTerms
from tests.observers.told import facts
from tests.watching import under_watch


def run(out, loss_of):
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model(torch.ones(6, 4))).backward()
            optimizer.step()
    return facts(out, LossTerms)


def three(made):
    square = made.square().mean()
    absolute = made.abs().mean()
    return square - absolute + made.exp().mean()


def single(made):
    return made.square().mean()


def test_the_terms_of_a_sum_are_told_with_their_signs_and_lines(tmp_path):
    found = run(tmp_path, three)
    assert [f.ref.step for f in found] == [0, 1, 2]
    first, second, third = found[0].terms
    assert (first.value >= 0, second.value <= 0, third.value > 0) == (True, True, True)
    assert second.frame.code == "absolute = made.abs().mean()"
    assert {f.frame.function for f in found} == {"three"}


def test_a_loss_that_is_no_sum_has_none(tmp_path):
    assert run(tmp_path, single) == []


def mixed(made):
    drawn = nn.functional.mse_loss(made, torch.zeros_like(made))
    return drawn + -0.5 * torch.sum(made)


def test_a_term_says_what_it_is_the_sum_or_the_mean_of(tmp_path):
    first, second = run(tmp_path, mixed)[0].terms
    assert (first.reduction, first.elements, first.weight) == ("mean", 24, 1 / 24)
    assert (second.reduction, second.elements, second.weight) == ("sum", 24, 0.5)


TARGET = torch.arange(48.0).reshape(12, 4)


def by_row(made):
    wide = made.repeat(2, 1)
    drawn = nn.functional.mse_loss(wide, TARGET, reduction="none").mean(1).mean() / 0.5
    return drawn + 0.5 * torch.sum(wide.square(), dim=1).mul(2).mean()


def test_sums_of_rows_and_the_spread_of_the_answers_are_told(tmp_path):
    first, second = run(tmp_path, by_row)[0].terms
    assert (first.reduction, first.elements, first.weight) == ("mean", 48, 2 / 48)
    assert (first.spread, first.target_spread) == (0.0, 208.0)
    assert (second.reduction, second.elements, second.weight) == ("sum", 48, 1 / 12)
    assert second.spread is None and second.target_spread is None


def divided(made):
    return 0.5 * (mixed(made) / 4)


def test_a_sum_that_is_divided_is_told_with_its_own_line(tmp_path):
    found = run(tmp_path, divided)[0]
    assert [term.weight for term in found.terms] == [1 / 24 / 8, 0.5 / 8]
    assert found.frame.function == "mixed"
