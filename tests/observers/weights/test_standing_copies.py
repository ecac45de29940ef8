"""Copies that are evaluated and stand because an iterator is used up."""

from __future__ import annotations

import copy

import torch
from torch import nn

from debugtracer.callsites import spent_iterator as source
from debugtracer.trace.facts.stale_copy import StaleCopy
from tests.observers.told import facts
from tests.watching import under_watch


class Average:
    def __init__(self, model, keep):
        self.copy = copy.deepcopy(model)
        pairs = zip(model.parameters(), self.copy.parameters(), strict=True)
        self.listed = list(pairs) if keep else []
        self.pairs = zip(model.parameters(), self.copy.parameters(), strict=True)

    @torch.no_grad()
    def follow(self):
        for weight, kept in self.listed:
            kept.lerp_(weight, 0.1)
        for weight, kept in self.pairs:
            kept.lerp_(weight, 0.1)


def run(out, monkeypatch, *, keep):
    monkeypatch.setattr(source, "program_files", lambda: [__file__])
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
    average = Average(model, keep)
    with under_watch(out):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(4):
            for _ in range(6):
                optimizer.zero_grad()
                (model(torch.randn(8, 3)) - 1).pow(2).mean().backward()
                optimizer.step()
                average.follow()
            with torch.no_grad():
                average.copy(torch.randn(8, 3))
    return facts(out, StaleCopy)


def test_a_copy_that_no_loop_writes_any_more_is_told(tmp_path, monkeypatch):
    (fact,) = run(tmp_path, monkeypatch, keep=False)
    assert fact.updates == 6 and fact.module == "Sequential" and float(fact.apart) > 0
    assert fact.spent is not None and fact.spent.name == "self.pairs"
    assert fact.frame.code.startswith("self.pairs = zip(")
    assert fact.called is not None and fact.called.code.startswith("average.copy(")


def test_one_that_moves_is_silent(tmp_path, monkeypatch):
    assert run(tmp_path, monkeypatch, keep=True) == []
