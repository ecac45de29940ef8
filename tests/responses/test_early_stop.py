"""A run that learns by heart ends at the next batch where that was chosen, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.errors import StoppedByTracer
from debugtracer.recorder.run_state import RunState
from debugtracer.responses.early_stop import EarlyStop
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.saved_state import newest
from tests.responses.loops import actions
from tests.watching import under_watch

EPOCHS = 40
MANY = 2000  # the checks run beside training: it goes on until they have spoken


def by_heart(epochs: int = EPOCHS) -> int:
    """Train on too few samples, and evaluate after each pass; the passes that were begun."""
    torch.manual_seed(7)
    usage, taste = torch.randn(640, 20), torch.randn(20)
    left = (usage @ taste / 20**0.5 + 0.7 * torch.randn(640) > 0).long()
    train: DataLoader[Any] = DataLoader(TensorDataset(usage[:128], left[:128]), batch_size=16, shuffle=True)
    valid: DataLoader[Any] = DataLoader(TensorDataset(usage[128:], left[128:]), batch_size=128)
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2))
    criterion, optimizer = nn.CrossEntropyLoss(), torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(epochs):
        model.train()
        for x, y in train:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for x, y in valid:
                criterion(model(x), y).item()
    return epochs


def test_it_ends_where_that_was_chosen(tmp_path: Path) -> None:
    with under_watch(tmp_path, "val", respond="overfitting=stop", cost=1.0), pytest.raises(StoppedByTracer):
        by_heart(MANY)
    done = actions(tmp_path)[-1]
    assert done.action == "stop" and "Keep the weights of step" in done.reason and "as you have chosen" in done.reason
    assert newest(open_trace(tmp_path).path)[0] == done.step < 8 * MANY


def test_it_goes_on_where_nothing_was_chosen(tmp_path: Path) -> None:
    with under_watch(tmp_path, "val", cost=1.0):
        assert by_heart() == EPOCHS
    assert actions(tmp_path) == []


def test_a_note_and_another_cause_end_nothing() -> None:
    found = [
        SimpleNamespace(kind="overfitting", severity="note"),
        SimpleNamespace(kind="lr_too_high", severity="error"),
    ]
    told: Any = SimpleNamespace(noted=lambda *words: pytest.fail("nothing was to be done"))
    stop = EarlyStop(RunState(), lambda: found, told, str, lambda: KeyboardInterrupt)  # type: ignore[arg-type, return-value]
    assert stop.before_fetch(None) is False
    found.clear()
    assert stop.before_fetch(None) is False
