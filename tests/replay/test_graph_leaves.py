"""A weight that was bad before is found among the leaves of the graph of a bad loss, with its path."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.governor import FIRST_STEPS
from debugtracer.recorder.state.roots import Roots
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.graph_leaves import bad_weight, leaves, names_in
from tests.watching import incidents, under_watch


def alarm(loss: torch.Tensor | None) -> Alarm:
    return Alarm(symptom="nan_loss", segment=Segment(0), iteration=0, step=0, loss=loss)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_the_weight_that_is_not_finite_is_named(value: float) -> None:
    model, path = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1)), {}
    path.update({id(p): f"parameter {name}" for name, p in model.named_parameters()})
    with torch.no_grad():
        next(model.parameters())[0, 1] = value
    found = bad_weight(alarm(model(torch.ones(1, 2)).sum()), lambda tensor: path.get(id(tensor)))
    assert found is not None and found.output is not None
    assert (found.kind, found.input_name, found.op) == ("input", "parameter 0.weight", None)
    assert found.output.nan + found.output.posinf == 1


def test_good_weights_unnamed_ones_and_a_loss_without_a_graph_give_none() -> None:
    model = nn.Linear(2, 1)
    loss = model(torch.full((1, 2), float("nan"))).sum()
    assert bad_weight(alarm(loss), lambda _: "parameter x") is None
    assert bad_weight(alarm(loss.detach()), lambda _: "parameter x") is None
    assert bad_weight(alarm(None), lambda _: "parameter x") is None
    with torch.no_grad():
        model.bias.fill_(float("nan"))
    assert bad_weight(alarm(model(torch.ones(1, 2)).sum()), lambda _: None) is None


def test_leaves_are_what_a_backward_would_write() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    model[0].bias.requires_grad_(False)
    end = model(torch.ones(1, 2)).sum().grad_fn
    assert end is not None
    assert {id(leaf) for leaf in leaves(end)} == {id(p) for p in model.parameters() if p.requires_grad}


def test_what_no_root_holds_has_no_name() -> None:
    assert names_in(Roots())(torch.ones(1, requires_grad=True)) is None


def test_an_update_that_was_not_read_and_went_bad_is_told_by_the_loss_after_it(tmp_path: Path) -> None:
    torch.manual_seed(0)
    with under_watch(tmp_path, cost=0.0, inspect_steps=0) as session:
        last = nn.Linear(4, 1)
        model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), last)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

        def step(spoil: bool = False) -> None:
            optimizer.zero_grad()
            model(torch.randn(8, 4)).square().mean().backward()
            grad = last.weight.grad
            assert grad is not None
            if spoil:
                grad.div_(torch.tensor(0.0))
            optimizer.step()

        for number in range(FIRST_STEPS + 1000):
            if number == FIRST_STEPS:
                session.state.own_s += 100.0
            step()
            if session.events.calls.rests:
                break
        steps = session.events.resting.steps
        steps.leaves_out = steps.to_leave_out = 6
        step(spoil=True)
        assert session.events.rests()
        step()
    (found,) = incidents(tmp_path)
    assert found.verdict is not None
    assert found.verdict.kind == "weights_nonfinite"
    assert "parameter 2.weight was already non-finite when the step began" in found.verdict.summary
