"""Logs as the real loggers write them."""

from __future__ import annotations

import math
from pathlib import Path


def trainer_state(folder: Path, losses: list[float], every: int = 50) -> Path:
    """A trainer_state.json written by transformers, with a grad_norm that is NaN where the loss is."""
    from transformers.trainer_callback import TrainerState

    history = [
        {
            "loss": loss,
            "grad_norm": 1.0 if math.isfinite(loss) else math.nan,
            "learning_rate": 1e-3,
            "epoch": n / 10,
            "step": every * n,
        }
        for n, loss in enumerate(losses, 1)
    ]
    history.append({"eval_loss": 0.7, "eval_accuracy": 0.5, "eval_runtime": 1.5, "step": every * len(losses)})
    history.append({"train_runtime": 9.0, "train_loss": 0.66, "total_flos": 1e9, "step": every * len(losses)})
    folder.mkdir(parents=True, exist_ok=True)
    TrainerState(log_history=history, global_step=every * len(losses)).save_to_json(str(folder / "trainer_state.json"))
    return folder / "trainer_state.json"


def lightning_csv(folder: Path, losses: list[float], every: int = 50) -> Path:
    """A metrics.csv written by Lightning; returns its version folder."""
    from lightning.fabric.loggers import CSVLogger

    logger = CSVLogger(str(folder))
    for n, loss in enumerate(losses):
        logger.log_metrics({"train_loss": loss, "lr-Adam": 1e-3, "epoch": 0}, step=every * (n + 1) - 1)
    logger.log_metrics({"val_loss": 0.9, "val_acc": 0.25, "epoch": 0}, step=every * len(losses) - 1)
    logger.save()
    return Path(logger.log_dir)


def events(folder: Path, losses: list[float], every: int = 50) -> Path:
    """A TensorBoard event file written by torch's SummaryWriter, with an image-like distraction; returns its folder."""
    import torch
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(folder)) as writer:
        for n, loss in enumerate(losses, 1):
            writer.add_scalar("Loss/train", loss, every * n)
        writer.add_scalar("Loss/valid", 0.9, every * len(losses))
        writer.add_scalar("accuracy", 0.25, every * len(losses), new_style=True)
        writer.add_histogram("weights", torch.arange(8.0), every)
        writer.add_text("note", "hello", every)
    return folder
