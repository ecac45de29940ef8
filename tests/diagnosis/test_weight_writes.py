"""Weights that the program itself has written: its line is told, in place of advice about seeds and checkpoints."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional

from debugtracer.replay.investigate import investigate
from tests.watching import incidents, only, under_watch

BAD = 3  # the step in which it goes wrong


def steps(out, before=None, between=None, loss_of=functional.mse_loss):
    """Six steps of a small model; `before` may write weights before the forward, `between` after the backward."""
    torch.manual_seed(0)
    x = torch.randn(8, 4)
    with under_watch(out):
        model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(6):
            if before is not None and step == BAD:
                before(model)
            loss = loss_of(model(x), x.sum(1, keepdim=True))
            optimizer.zero_grad()
            loss.backward()
            if between is not None:
                between(model, step)
            optimizer.step()
    return model


@torch.no_grad()
def overwrite(model):
    model[2].weight.copy_(torch.full((1, 6), torch.nan))


def test_a_write_before_the_forward_is_the_line_to_edit(tmp_path):
    steps(tmp_path, before=overwrite)
    found = only(tmp_path)
    assert found.verdict.kind == "weights_nonfinite"
    assert "model[2].weight.copy_(" in line_of(found.verdict)
    assert "since the program itself wrote it (copy_ at" in found.verdict.summary
    assert not any("learning rate" in text or "seed" in text for text in found.verdict.remedy)
    (write,) = found.facts.written
    assert (write.params, write.op, write.replayed) == (("2.weight",), "copy_", False)


def test_a_checkpoint_loaded_in_the_loop_is_told_by_the_line_that_loads_it(tmp_path):
    def load(model):
        state = {name: value * 0.9 for name, value in model.state_dict().items()}
        state["0.weight"][1, 2] = torch.nan
        model.load_state_dict(state)

    steps(tmp_path, before=load)
    found = only(tmp_path)
    assert (found.verdict.kind, found.verdict.status) == ("weights_nonfinite", "confirmed")
    assert "model.load_state_dict(state)" in line_of(found.verdict)


def test_a_write_between_backward_and_step_is_not_called_an_earlier_step(tmp_path):
    def rescale(model, step):
        if step == BAD:
            with torch.no_grad():
                model[0].weight.div_(0.0)

    steps(tmp_path, between=rescale)
    assert "model[0].weight.div_(0.0)" in line_of(only(tmp_path).verdict)


def test_a_climb_within_the_step_is_executed_again_from_the_weights_before_it(tmp_path):
    def climb(model, step):
        with torch.no_grad():
            for p in model.parameters():
                p.add_(0.01 * p.grad / (p.grad.norm() * (step != BAD)))

    steps(tmp_path, between=climb)
    found = only(tmp_path)
    assert found.verdict.op == "aten::div"
    assert "p.add_(0.01 * p.grad /" in line_of(found.verdict)
    assert found.facts.replay.parity != "not reproduced"


def test_a_replay_that_began_after_a_write_says_so_and_speaks_of_no_seed(tmp_path):
    torch.manual_seed(0)
    x = torch.randn(8, 4)
    with under_watch(tmp_path):
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(6):
            with torch.no_grad():
                model.weight.fill_(torch.inf if step == BAD else 0.1)
            loss = functional.mse_loss(model(x), x.sum(1, keepdim=True))
            optimizer.zero_grad()
            with torch.no_grad():
                model.weight.fill_(0.2)
            if step != BAD:
                loss = functional.mse_loss(model(x), x.sum(1, keepdim=True))
            loss.backward()
            optimizer.step()
    verdict = only(tmp_path).verdict
    assert "it began after a write of the program's own: fill_ at" in verdict.summary
    assert verdict.remedy[0].startswith("look at what test_weight_writes.py:")
    assert not any("seed" in text for text in verdict.remedy)


def test_a_gradient_of_the_step_before_is_what_it_was(tmp_path):
    """A loop that updates by hand reads gradients that its last backward made, before this step began."""
    torch.manual_seed(0)
    x = torch.randn(8, 4)
    model = nn.Linear(4, 1)
    with under_watch(tmp_path):
        for step in range(8):
            loss = functional.mse_loss(model(x), x.sum(1, keepdim=True))
            model.zero_grad()
            loss.backward()
            with torch.no_grad():
                for p in model.parameters():
                    p -= (0.01 if step < 5 else 1e38) * p.grad
    found = incidents(tmp_path)[0]
    assert found.facts.replay.reproduced
    assert found.facts.replay.parity == "bitwise"


@pytest.mark.parametrize("rate", [0.0, 0.01])
def test_weights_and_versions_are_as_before_after_a_replay(tmp_path, monkeypatch, rate):
    """A replay goes back to the weights from before the loop's writes, and puts those of now back."""
    seen = []

    def watched(alarm, context, size):
        now = [p.detach().clone() for m in list(context.roots.known) for p in m.parameters()]
        result = investigate(alarm, context, size)
        after = [p.detach() for m in list(context.roots.known) for p in m.parameters()]
        seen.append(all(torch.equal(a, b) for a, b in zip(now, after, strict=True)))
        return result

    monkeypatch.setattr("debugtracer.replay.investigate.investigate", watched)

    def shift(model, step):
        with torch.no_grad():
            for p in model.parameters():
                p.add_(rate * p.grad)

    steps(tmp_path, between=shift, loss_of=lambda a, b: functional.mse_loss(a, b) / (b.numel() - 8))
    assert seen == [True]


def line_of(verdict):
    """The source of the line that the verdict names."""
    with open(verdict.file) as source:
        return source.read().splitlines()[verdict.line - 1]
