"""Running totals in half precision under a real session."""

from __future__ import annotations

import torch
from torch import nn

from debugtracer.trace.facts.half_reduction import RunningTotal
from tests.observers.observing import observed


def loop(step_body, steps=1):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def run():
        for step in range(steps):
            loss = model(torch.ones(3, 2)).mean()
            step_body(step)
            loss.backward()
            optimizer.step()

    return run


def test_many_additions_of_a_step_are_added_up_in_float32_too(tmp_path):
    def many(step):
        total = torch.zeros((), dtype=torch.bfloat16)
        one = torch.ones((), dtype=torch.bfloat16)
        for _ in range(400):
            total = total + one
        assert total.item() == 256

    (fact,) = observed(tmp_path / "runs", loop(many), RunningTotal)
    assert (fact.adds, fact.before, fact.added, fact.after, fact.wide) == (400, 0.0, 1.0, 256.0, 400.0)
    assert (fact.dtype, fact.graph, fact.frame.code) == ("bfloat16", False, "total = total + one")


def test_a_total_that_is_written_in_place_begins_where_it_was_seen(tmp_path):
    total = torch.full((), 2048.0, dtype=torch.float16)

    def once(step):
        total.add_(1.0)

    facts = observed(tmp_path / "runs", loop(once, steps=2), RunningTotal)
    # the second says the same
    assert [(f.adds, f.before, f.added, f.after) for f in facts] == [(1, 2048.0, 1.0, 2048.0)]


def test_float32_and_larger_tensors_are_left_alone(tmp_path):
    def others(step):
        torch.zeros(()) + 1.0
        torch.zeros(2, dtype=torch.float16) + 1.0

    assert observed(tmp_path / "runs", loop(others), RunningTotal) == []


def test_a_loss_that_is_put_together_hangs_on_a_graph(tmp_path):
    weight = torch.ones((), dtype=torch.bfloat16, requires_grad=True)
    (fact,) = observed(tmp_path / "runs", loop(lambda step: weight * 2 + weight), RunningTotal)
    assert fact.graph
