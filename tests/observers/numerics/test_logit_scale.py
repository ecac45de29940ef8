"""The logits of a cross-entropy under a real session."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from debugtracer.observers.numerics.logit_scale import told_places
from debugtracer.trace.facts.logit_scale import LogitScale
from debugtracer.trace.store.reader import open_trace
from tests.observers.observing import observed


def loop(criterion, steps=1):
    torch.manual_seed(1)
    model = nn.Linear(4, 6)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x = torch.randn(10, 4)

    def run():
        for _ in range(steps):
            loss = criterion(model(x) + 5.0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return run, (model(x) + 5.0).detach()


TARGET = torch.arange(10) % 6


def test_log_z_the_gap_and_the_loss_are_measured(tmp_path):
    run, logits = loop(lambda z: F.cross_entropy(z, TARGET))
    (fact,) = observed(tmp_path / "runs", run, LogitScale)
    top = logits.topk(2, -1).values
    assert (fact.classes, fact.rows) == (6, 10)
    assert fact.log_z == pytest.approx(logits.logsumexp(-1).mean().item(), rel=1e-5)
    assert fact.gap == pytest.approx((top[:, 0] - top[:, 1]).mean().item(), rel=1e-5)
    assert fact.loss == pytest.approx(F.cross_entropy(logits, TARGET).item(), rel=1e-5)


def test_ignored_rows_are_left_out_and_sums_do_not_matter(tmp_path):
    target = torch.where(torch.arange(10) < 4, TARGET, -100)
    run, logits = loop(lambda z: F.cross_entropy(z, target, reduction="sum"))
    (fact,) = observed(tmp_path / "runs", run, LogitScale)
    assert fact.rows == 4
    assert fact.loss == pytest.approx(F.cross_entropy(logits[:4], TARGET[:4]).item(), rel=1e-5)


@pytest.mark.parametrize(
    ("target", "classes", "places"),
    [
        ([0, 1, 2, 3], 4, True),
        ([2, 3, 0, 1], 4, True),
        ([0, 2, 5, 7], 8, True),
        ([0, 2, 5, 8], 9, False),
        ([0, 0, 0, 0], 4097, True),
        ([0, 1, 1, 2], 4, False),
    ],
)
def test_targets_that_told_places_of_partners(target, classes, places):
    assert bool(told_places(torch.tensor(target), len(target), classes)) is places


def test_pairs_are_told(tmp_path):
    run, _ = loop(lambda z: F.cross_entropy(z @ z.t(), torch.arange(10)))
    assert observed(tmp_path / "pairs", run, LogitScale)[0].pairs
    run, _ = loop(lambda z: F.cross_entropy(z, TARGET))
    assert not observed(tmp_path / "classes", run, LogitScale)[0].pairs


def test_soft_targets_and_class_maps(tmp_path):
    soft = torch.full((10, 6), 1 / 6)
    run, logits = loop(lambda z: F.cross_entropy(z, soft))
    (fact,) = observed(tmp_path / "soft", run, LogitScale)
    assert fact.loss == pytest.approx(F.cross_entropy(logits, soft).item(), rel=1e-5)
    run, logits = loop(lambda z: F.cross_entropy(z.view(2, 5, 6).transpose(1, 2), TARGET.view(2, 5)))
    (fact,) = observed(tmp_path / "map", run, LogitScale)
    assert fact.loss == pytest.approx(F.cross_entropy(logits, TARGET).item(), rel=1e-5)


def test_a_class_that_is_closed_does_not_spoil_the_others(tmp_path):
    run, _ = loop(lambda z: F.cross_entropy(z.masked_fill(torch.arange(6) == 5, float("-inf")), TARGET % 5))
    (fact,) = observed(tmp_path / "runs", run, LogitScale)
    assert all(isinstance(x, float) for x in (fact.log_z, fact.gap, fact.loss))


def test_log_z_is_a_series_of_the_inspected_steps(tmp_path):
    run, logits = loop(lambda z: F.cross_entropy(z, TARGET), steps=5)
    assert len(observed(tmp_path / "runs", run, LogitScale)) == 3
    steps, values = open_trace(tmp_path / "runs").series("log_z")
    assert steps == [0, 1, 2]
    assert values[0] == pytest.approx(logits.logsumexp(-1).mean().item(), rel=1e-5)
