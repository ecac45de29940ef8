"""Loops that are healthy but nasty: nothing that follows updates, schedules or scalers may say more than a note."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.events import Found
from tests.observers.loops import HEALTHY, data, mse, net
from tests.watching import events, under_watch

OURS = {
    "optimizer": (
        "zero-grad-missing", "zero-grad-misplaced", "clip-before-unscale", "clip-after-step", "step-missing",
        "double-unscale", "scaler-update-missing", "lr-zero", "lr-jump", "sched-order", "sched-boundary", "no-update",
        "eps-dtype", "decayed-gains", "clip-share", "clip-nonfinite", "shared-params",
    ),
    "numerics": ("half-gradients", "scaler-backoff", "scaler-collapse", "scaler-arguments"),
}  # fmt: skip


def loud(out: Path, loop: Callable[[], Any]) -> list[str]:
    """Messages above a note of the checks of this subject."""
    with under_watch(out) as session:
        loop()
    assert session.observed_run.failures == {}
    ours = {f"{layer}/{slug}" for layer, slugs in OURS.items() for slug in slugs}
    found = [e.finding for e in events(out) if isinstance(e, Found)]
    return [f.message for f in found if f.check in ours and f.severity != "note"]


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_loop_is_silent(tmp_path: Path, name: str):
    assert loud(tmp_path / "runs", HEALTHY[name]) == []


def test_the_same_eyes_see_a_fault(tmp_path: Path):
    def loop() -> None:
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for x, y in data(5):
            mse(model(x), y).backward()
            optimizer.step()

    assert ["already used by the update before" in message for message in loud(tmp_path / "runs", loop)] == [True]


def test_lightning_that_accumulates_clips_and_cycles_is_silent(tmp_path: Path):
    lightning = pytest.importorskip("lightning")

    class Net(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = net()

        def training_step(self, batch: Any, number: int) -> Any:
            return mse(self.net(batch[0]), batch[1])

        def configure_optimizers(self) -> Any:
            optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
            total = int(self.trainer.estimated_stepping_batches)
            return {
                "optimizer": optimizer,
                "lr_scheduler": {
                    "scheduler": lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=total),
                    "interval": "step",
                },
            }

    quiet = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"), False)
    trainer = lightning.Trainer(
        max_epochs=3,
        accumulate_grad_batches=2,
        gradient_clip_val=1.0,
        accelerator="cpu",
        default_root_dir=tmp_path,
        **quiet,
    )
    loader = DataLoader(TensorDataset(torch.randn(80, 4), torch.randn(80, 1)), batch_size=8)
    assert loud(tmp_path / "runs", lambda: trainer.fit(Net(), loader)) == []


def test_accelerate_that_accumulates_and_clips_is_silent(tmp_path: Path):
    accelerate = pytest.importorskip("accelerate")

    def loop() -> None:
        owner = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=4)
        model = net()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        loader = DataLoader(TensorDataset(torch.randn(88, 4), torch.randn(88, 1)), batch_size=8, shuffle=True)
        model, optimizer, loader, scheduler = owner.prepare(
            model, optimizer, loader, lr_scheduler.CosineAnnealingLR(optimizer, 9)
        )
        for _ in range(3):
            for x, y in loader:
                with owner.accumulate(model):
                    owner.backward(mse(model(x), y))
                    if owner.sync_gradients:
                        owner.clip_grad_norm_(model.parameters(), 1.0)
                    optimizer.step()
                    scheduler.step()
                    optimizer.zero_grad()

    assert loud(tmp_path / "runs", loop) == []


def test_the_trainer_of_transformers_is_silent(tmp_path: Path):
    transformers = pytest.importorskip("transformers")

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = net()

        def forward(self, x: Any, labels: Any = None) -> Any:
            return {"loss": mse(self.net(x), labels)}

    rows = [{"x": torch.randn(4), "labels": torch.randn(1)} for _ in range(88)]
    words = transformers.TrainingArguments(
        output_dir=str(tmp_path / "out"), per_device_train_batch_size=8, num_train_epochs=2,
        gradient_accumulation_steps=4, report_to=[], save_strategy="no", use_cpu=True, disable_tqdm=True,
        warmup_steps=3,
    )  # fmt: skip
    assert loud(tmp_path / "runs", lambda: transformers.Trainer(Net(), words, train_dataset=rows).train()) == []
