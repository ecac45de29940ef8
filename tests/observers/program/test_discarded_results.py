"""Results that are thrown away."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from debugtracer.trace.facts.discarded_result import DiscardedResult
from tests.observers.told import facts, findings
from tests.watching import under_watch


def clamped(model, x):
    for p in model.parameters():
        p.data.clamp(-0.01, 0.01)
    return model(x).square().mean()


def unmasked(model, x):
    scores = model(x)
    scores.masked_fill(x > 0, -1e9)
    return F.softmax(scores, -1).square().mean()


def kept(model, x):
    scores = model(x).masked_fill(x > 0, -1.0)
    return scores.square().mean()


def in_place(model, x):
    for p in model.parameters():
        p.data.clamp_(-0.01, 0.01)
    return model(x).square().mean()


def without_change(model, x):
    scores = model(x)
    scores.clamp(-1e9, 1e9)
    return scores.square().mean()


def a_view(model, x):
    scores = model(x)
    scores.detach()
    scores.unsqueeze(0)
    return scores.square().mean()


def handed_on(model, x):
    return sum([model(x).abs().mean(), model(x).clamp(-1, 1).mean()])


def run(out, loss_of):
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(out):
        for _ in range(4):
            optimizer.zero_grad()
            loss_of(model, torch.ones(6, 4)).backward()
            optimizer.step()
    return facts(out, DiscardedResult)


@pytest.mark.parametrize(("loss_of", "name"), [(clamped, "clamp"), (unmasked, "masked_fill")])
def test_a_result_that_is_dropped_is_told_once(tmp_path, loss_of, name):
    (found,) = run(tmp_path, loss_of)
    assert (found.function, found.twin, found.frame.function) == (name, f"{name}_", loss_of.__name__)
    assert 0 < found.changed <= 1
    assert [f.severity for f in findings(tmp_path, "result-discarded")] == ["warning"]


@pytest.mark.parametrize("loss_of", [kept, in_place, without_change, a_view, handed_on])
def test_a_result_that_is_kept_or_changes_nothing_is_silent(tmp_path, loss_of):
    assert run(tmp_path, loss_of) == []
