"""A glance at every eighth step: norms of activations and updates, while there is time to spare."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from debugtracer.observers.numerics import glance
from tests.observers.numerics.test_layer_norms import norms_of, train


def test_every_eighth_step_has_activations_and_updates_too(tmp_path: Path) -> None:
    train(tmp_path, 33)
    table = norms_of(tmp_path)
    glanced = [step for step in table.steps if table.glanced(step)]
    assert glanced == [8, 16, 24, 32]
    taken = table.at(16)
    rows = {
        (r, n): k for k, (r, n) in enumerate(zip(*(taken.names[w].texts() for w in ("role", "layer")), strict=True))
    }
    assert [name for role, name in rows if role == "activation"] == ["0", "1"]
    updated = rows["weight", "1.weight"]
    gradient = taken.floats["l2"][rows["gradient", "1.weight"]]
    assert taken.known["update_l2"][updated]
    assert taken.floats["update_l2"][updated] == pytest.approx(0.01 * gradient, rel=1e-3)  # SGD
    assert not table.at(9).known["update_l2"].any()


def test_no_glance_is_taken_where_time_is_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glance, "SPARE_S", 1e9)
    train(tmp_path, 33)
    table = norms_of(tmp_path)
    assert not any(table.glanced(step) for step in table.steps)


def test_glances_become_rarer_and_leave_no_hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glance, "DENSE", 3)
    train(tmp_path, 100)
    table = norms_of(tmp_path)
    assert [step for step in table.steps if table.glanced(step)] == [8, 16, 24, 32, 48, 64, 96]
    assert not torch.nn.modules.module._global_forward_hooks
    assert not torch.nn.modules.module._global_forward_pre_hooks


def test_a_glance_changes_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = train(tmp_path / "seen", 40)
    monkeypatch.setattr(glance, "SPARE_S", 1e9)
    alone = train(tmp_path / "alone", 40)
    assert all(torch.equal(a, b) for a, b in zip(seen.parameters(), alone.parameters(), strict=True))
