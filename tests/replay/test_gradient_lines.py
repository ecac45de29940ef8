"""Lines that write gradients by hand, where the step cannot be executed again."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from debugtracer.replay.gradient_lines import gradient_write, names_behind
from debugtracer.trace.incident import IncidentFacts
from tests.watching import only, under_watch

Edit = Callable[[nn.Module, int], None]


def incident(out: Path, edit: Edit) -> IncidentFacts:
    """A loop that replaces the data of its weights, which no replay can take back."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    with under_watch(out):
        for step in range(4):
            model(torch.randn(8, 3)).pow(2).mean().backward()
            if step == 2:
                in_hand(model, optimizer, edit)
            else:
                optimizer.step()
            optimizer.zero_grad()
            for p in model.parameters():
                p.data = p.data.clamp(-1, 1)
    return only(out).facts


def in_hand(model, optimizer, edit):
    edit(model, optimizer)


def test_a_line_in_a_loop_over_the_parameters_is_computed_again(tmp_path: Path):
    def edit(model, optimizer):
        hot = 300.0
        for name, p in model.named_parameters():
            if name == "0.weight":
                scale = torch.exp(hot * p.data.abs().add(1)) + 1
                p.grad.data *= scale
        optimizer.step()

    facts = incident(tmp_path, edit)
    assert facts.birth is not None and facts.birth.op == "aten::exp" and facts.birth.frame is not None
    assert facts.birth.frame.code.startswith("scale = torch.exp(")
    assert facts.replay is not None and facts.replay.mechanism == "lines"


def test_an_expression_of_the_write_itself_is_found(tmp_path: Path):
    def edit(model, optimizer):
        worth = torch.zeros(())
        model[1].weight.grad.mul_(torch.log(worth))
        optimizer.step()

    facts = incident(tmp_path, edit)
    assert facts.birth is not None and facts.birth.op == "aten::log" and facts.birth.frame is not None
    assert "grad.mul_(torch.log(worth))" in facts.birth.frame.code


def test_a_gradient_that_was_bad_before_it_was_clipped_by_hand_accuses_no_line(tmp_path: Path):
    def edit(model, optimizer):
        model[0].weight.register_hook(lambda g: g * float("nan"))
        model(torch.randn(8, 3)).pow(2).mean().backward()
        norm = model[0].weight.grad.norm()
        for p in model.parameters():
            p.grad *= 1.0 / (norm + 1e-6)
        optimizer.step()

    facts = incident(tmp_path, edit)
    assert facts.replay is not None and facts.replay.mechanism != "lines"


def spoil(model):
    """A gradient that the backward itself has made bad."""
    model[0].weight.grad.copy_(torch.full_like(model[0].weight, float("nan")).detach())


def test_a_line_that_a_condition_keeps_from_a_parameter_is_not_computed_for_it(tmp_path: Path):
    def edit(model, optimizer):
        spoil(model)
        with torch.no_grad():
            model[1].bias.zero_()
        for p in model.parameters():
            if p.data.norm() > 0:
                p.grad.mul_(0.1 / p.data.norm())
        optimizer.step()

    facts = incident(tmp_path, edit)
    assert facts.replay is not None and facts.replay.mechanism != "lines"


def test_a_parameter_that_the_loop_does_not_hold_or_whose_gradient_is_good_is_left_out(tmp_path: Path):
    def edit(model, optimizer):
        spoil(model)
        with torch.no_grad():
            model[1].bias.zero_()
        for p in model[0].parameters():
            scale = torch.sqrt(0.1 / p.data.norm())
            p.grad.mul_(scale)
        optimizer.step()

    facts = incident(tmp_path, edit)
    assert facts.replay is not None and facts.replay.mechanism != "lines"


def test_which_statements_write_a_gradient():
    def said(text):
        return gradient_write(ast.parse(text).body[0]) is not None

    assert all(map(said, ("p.grad = x", "p.grad.data *= x", "p.grad[0] = x", "p.grad.mul_(x)", "p.grad.data.add_(x)")))
    assert not any(map(said, ("g = p.grad * x", "p.data *= x", "p.grad.mul(x)", "p.grad.zero_()", "grad = 1")))


def test_names_are_followed_to_what_they_were_made_of():
    writes = [(1, "a", ast.parse("b + c", mode="eval").body), (2, "d", ast.parse("e", mode="eval").body)]
    assert names_behind([ast.parse("a * 2", mode="eval").body], writes) == {"a", "b", "c"}
