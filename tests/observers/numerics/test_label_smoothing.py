"""What label smoothing does to a cross entropy, beside torch's own gradient."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from debugtracer.observers.numerics.label_smoothing import LabelSmoothingObserver
from debugtracer.trace.events import Observed
from debugtracer.trace.facts.fact import from_plain
from tests.observers.runs import a_run
from tests.watching import events, under_watch


def looked(out, **options):
    model = torch.nn.Linear(6, 5)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x, y = torch.randn(16, 6), torch.randint(0, 5, (16,))
    with under_watch(out):
        logits = model(x)
        F.cross_entropy(logits, y, **options).backward()
        optimizer.step()
    (fact,) = [
        from_plain(e.word, e.fact)
        for e in events(out)
        if isinstance(e, Observed) and e.word.startswith("label-smoothing/")
    ]
    return fact, logits.detach(), y


def test_the_table_is_what_torch_computes(tmp_path):
    fact, logits, y = looked(tmp_path / "runs")
    assert (fact.classes, fact.rows, fact.used, fact.closed) == (5, 16, 0.0, 0)
    for row in fact.table:
        scores = logits.double().requires_grad_(True)
        F.cross_entropy(scores, y, label_smoothing=row.epsilon).backward()
        assert row.gradient_variance == pytest.approx(scores.grad.var(correction=0).item(), rel=1e-6)
    assert [row.target_kl for row in fact.table] == pytest.approx([0.0, 0.083382, 0.174353], abs=1e-6)
    assert fact.accuracy == pytest.approx((logits.argmax(1) == y).float().mean().item())


def test_what_the_call_used_is_told(tmp_path):
    assert looked(tmp_path / "runs", label_smoothing=0.1)[0].used == 0.1


def test_classes_at_minus_infinity_and_ignored_targets_are_counted_and_left_out():
    run = a_run()
    observer = LabelSmoothingObserver(run)
    logits = torch.randn(8, 4)
    logits[:, 3] = float("-inf")
    target = torch.tensor([0, 1, 2, -100, 0, 1, 2, -100])
    observer.called(F.cross_entropy, (logits, target), {"label_smoothing": 0.2}, None)
    (fact,) = run.take_facts()
    assert (fact.closed, fact.rows, fact.used) == (1, 6, 0.2)
    run.state.step = 1
    observer.called(F.cross_entropy, (logits, torch.rand(8, 4)), {}, None)
    assert run.take_facts() == []
