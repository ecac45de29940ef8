"""Clipping in real loops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.trace.facts.clipping import ClipLimit, ClippedNonfinite
from debugtracer.trace.store.reader import open_trace
from tests.observers.loops import data, mse, net, scaled
from tests.observers.observing import observed
from tests.watching import under_watch


def clipped(limit: float, poison: bool = False) -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in data(3):
        optimizer.zero_grad()
        mse(model(x), y).backward()
        if poison:
            model[0].weight.grad[0, 0] = float("inf")
        nn.utils.clip_grad_norm_(model.parameters(), limit)
        if not poison:
            optimizer.step()


def test_an_infinite_norm_is_told_with_its_line(tmp_path: Path):
    facts = observed(tmp_path / "runs", lambda: clipped(1.0, poison=True), ClippedNonfinite)
    assert {(f.norm, f.scaled) for f in facts} == {("Infinity", False)}
    assert facts[0].frame is not None
    assert facts[0].frame.code == "nn.utils.clip_grad_norm_(model.parameters(), limit)"


def test_the_search_of_a_scaler_is_marked_as_such(tmp_path: Path):
    facts = observed(tmp_path / "runs", lambda: scaled(2.0**24, 12), ClippedNonfinite)
    assert {f.scaled for f in facts} == {True}


def test_the_share_that_clipping_takes_is_a_series(tmp_path: Path):
    with under_watch(tmp_path / "runs"):
        clipped(1e-3)
    ratios = open_trace(tmp_path / "runs").series("clip_ratio")[1]
    assert len(ratios) == 3
    assert min(ratios) > 1


def test_the_limit_is_told_once_with_its_line(tmp_path: Path):
    (fact,) = observed(tmp_path / "runs", lambda: clipped(1e-3), ClipLimit)
    assert fact.limit == 1e-3
    assert fact.frame is not None
    assert fact.frame.code == "nn.utils.clip_grad_norm_(model.parameters(), limit)"


class CausalAttention(nn.Linear):
    pass


@pytest.mark.parametrize(
    ("layer", "kind"), [(nn.Linear, ""), (CausalAttention, "attention"), (nn.GRUCell, "recurrent")]
)
def test_the_kind_of_model_is_told_with_the_limit(tmp_path: Path, layer: Any, kind: str):
    def train() -> None:
        model = nn.Sequential(layer(4, 4), nn.Linear(4, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.randn(8, 4)).square().mean().backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

    (fact,) = observed(tmp_path / "runs", train, ClipLimit)
    assert fact.model == kind
