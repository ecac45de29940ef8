"""Evaluations of models that are trained with their targets as an input."""

from __future__ import annotations

import random

import pytest
import torch
from torch.nn import functional as F

from debugtracer.trace.facts.evaluated_targets import EvaluatedTargets
from tests.observers.model.test_target_trials import Decoder
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Forced(Decoder):
    def forward(self, x, y, share=None):
        self.share = 0.5 if share is None else share
        return super().forward(x, y)


def trained(**given):
    torch.manual_seed(0)
    random.seed(0)
    model = Forced(0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for _ in range(5):
        x, y = torch.randn(6, 3), torch.randn(6, 8)
        loss = F.mse_loss(model(x, y), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            losses.append(float(model(x, y, **given).mean()))
        model.train()
    return losses, random.random(), float(torch.rand(()))


@pytest.mark.parametrize(("given", "severity"), [({}, "warning"), ({"share": 0.0}, None), ({"share": 1.0}, "note")])
def test_what_the_evaluation_does_with_its_targets_is_told(tmp_path, given, severity):
    with under_watch(tmp_path):
        trained(**given)
    told = facts(tmp_path, EvaluatedTargets)
    assert [(f.root, f.argument, f.numbers, f.frame.function) for f in told] == (
        [("Forced", "y", True, "trained")] if severity else []
    )
    assert [f.severity for f in findings(tmp_path, "targets-in-evaluation")] == ([severity] if severity else [])


def test_watching_changes_no_number(tmp_path):
    with under_watch(tmp_path):
        watched = trained()
    assert watched == trained()


def test_a_model_that_gets_no_targets_is_left_alone(tmp_path):
    model = torch.nn.Linear(3, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for _ in range(5):
            F.mse_loss(model(torch.randn(6, 3)), torch.randn(6, 8)).backward()
            optimizer.step()
            model.eval()
            with torch.no_grad():
                model(torch.randn(6, 3))
            model.train()
    assert facts(tmp_path, EvaluatedTargets) == []


def test_a_step_that_was_missed_is_forgotten(tmp_path):
    with under_watch(tmp_path) as session:
        observer = session.dispatcher.observers["evaluated-targets"]
        observer.called(F.mse_loss, (torch.zeros(4), torch.ones(4)), {}, torch.ones(()))
        assert observer.wanted
        session.dispatcher.missed()
        assert not observer.wanted
