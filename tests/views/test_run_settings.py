"""The settings of a run as words, from a real run: what a person would change between two runs is among them."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.testing import a_trace
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.run_settings import run_settings
from tests.watching import under_watch


def test_a_real_run_tells_loader_loss_optimizer_and_seeds(tmp_path: Path) -> None:
    with under_watch(tmp_path / "runs"):
        torch.manual_seed(7)
        model = nn.Linear(4, 3)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.02, weight_decay=0.3)
        loader = DataLoader(TensorDataset(torch.randn(12, 4), torch.arange(12) % 3), batch_size=6, shuffle=True)
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y, label_smoothing=0.1).backward()
            optimizer.step()
    known = run_settings(open_trace(tmp_path / "runs"))
    assert known["loader 0, dataset"] == "TensorDataset, 12 samples"
    assert (known["loader 0, batch size"], known["loader 0, order"]) == ("6", "shuffled, RandomSampler")
    assert known["loss"] == "cross_entropy, reduction mean" and known["loss, label smoothing"] == "0.1"
    assert (known["optimizer 0"], known["optimizer 0, first learning rate"]) == ("AdamW", "0.02")
    assert known["optimizer 0, weight decay"] == "0.3"
    assert known["optimizer 0, line"].startswith("optimizer = torch.optim.AdamW(")
    assert known["parameters"] == "2 tensors, 15 numbers, 2 trainable"
    assert known["torch"] == str(torch.__version__)


def test_a_run_without_facts_has_its_command_alone(tmp_path: Path) -> None:
    known = run_settings(open_trace(a_trace(tmp_path)))
    assert known["command"] == "train.py" and "optimizer 0" not in known
