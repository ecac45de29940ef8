"""Large reductions in half precision under a real session."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.half_reduction import HalfReduction
from tests.observers.observing import observed


def loop(measure, dtype=torch.float16, count=100_000, steps=1):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    values = torch.linspace(0.5, 1.5, count).to(dtype)

    def run():
        for _ in range(steps):
            loss = model(torch.ones(3, 2)).mean()
            measure(values)
            loss.backward()
            optimizer.step()

    return run


def test_an_overflow_of_torch_is_measured(tmp_path):
    (fact,) = observed(tmp_path / "runs", loop(lambda v: v.sum()), HalfReduction)
    assert (fact.op, fact.dtype, fact.elements, fact.value, fact.overflows) == (
        "sum",
        "float16",
        100_000,
        "Infinity",
        1,
    )
    assert fact.wide == pytest.approx(100_000, rel=1e-3)
    assert fact.frame.code == '(fact,) = observed(tmp_path / "runs", loop(lambda v: v.sum()), HalfReduction)'


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    "measure", [lambda v: v.mean(), lambda v: v.norm(), lambda v: torch.var(v), lambda v: v.view(2, -1).mean(dim=1)]
)
def test_torch_adds_up_in_float32_inside(tmp_path, measure, dtype):
    (fact,) = observed(tmp_path / "runs", loop(measure, dtype), HalfReduction)
    assert fact.error < 0.005
    assert not fact.overflows


def test_logsumexp_of_more_than_65504_values_overflows_in_float16(tmp_path):
    (fact,) = observed(tmp_path / "runs", loop(lambda v: torch.logsumexp(v * 0, 0)), HalfReduction)
    assert (fact.op, fact.overflows) == ("logsumexp", 1)
    assert fact.wide == pytest.approx(11.513, abs=0.01)


def test_small_and_wide_reductions_are_left_alone(tmp_path):
    assert observed(tmp_path / "a", loop(lambda v: v.sum(), count=4096), HalfReduction) == []
    assert observed(tmp_path / "b", loop(lambda v: v.sum(), dtype=torch.float32), HalfReduction) == []
    assert observed(tmp_path / "c", loop(lambda v: v.sum(dtype=torch.float32)), HalfReduction) == []
    assert observed(tmp_path / "d", loop(lambda v: v.view(-1, 100).sum(dim=1)), HalfReduction) == []


def test_only_inspected_steps_are_looked_at(tmp_path):
    counted = iter(range(100_000, 200_000, 1000))
    seen = observed(tmp_path / "runs", loop(lambda v: v.new_ones(next(counted)).mean(), steps=6), HalfReduction)
    assert [fact.elements for fact in seen] == [100_000, 101_000, 102_000]


def test_a_cumsum_is_as_long_as_its_dimension(tmp_path):
    (fact,) = observed(tmp_path / "runs", loop(lambda v: v.cumsum(0)), HalfReduction)
    assert (fact.op, fact.elements) == ("cumsum", 100_000)
    assert fact.overflows > 10_000
