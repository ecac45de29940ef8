"""Sorts apples into three grades by eight readings of a sorting line."""

import logging
import tempfile
import warnings

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
torch.manual_seed(6)
weights = torch.randn(8, 3)


def crates(count, size):
    readings = torch.randn(count, 8)
    grades = (readings.tanh() @ weights + 0.3 * torch.randn(count, 3)).argmax(1)
    return DataLoader(TensorDataset(readings, grades), batch_size=size, shuffle=size < count)


class Grader(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))

    def training_step(self, batch, index):
        return F.cross_entropy(self.net(batch[0]), batch[1])

    def validation_step(self, batch, index):
        scores = self.net(batch[0])
        self.log("loss", F.cross_entropy(scores, batch[1]))
        self.log("right", (scores.argmax(1) == batch[1]).float().mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


with tempfile.TemporaryDirectory() as folder:
    best = ModelCheckpoint(folder, monitor="right")
    trainer = lightning.Trainer(
        max_epochs=9, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
        num_sanity_val_steps=0, callbacks=[best],
    )
    trainer.fit(Grader(), crates(640, 32), crates(300, 300))
    print(f"kept a model that is right for {best.best_model_score.item():.3f} of the apples")
