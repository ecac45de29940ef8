"""A module that Lightning trains for four passes of 40 batches; with LIVE unset it ends itself in its 90th batch. It prints
the sum of its weights at the end."""

import os

import lightning.pytorch as lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Module(lightning.LightningModule):
    seen = 0

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 1)

    def training_step(self, batch, index):
        self.seen += 1
        if self.seen == 90 and not os.environ.get("LIVE"):
            os._exit(9)
        x, y = batch
        return (self.layer(x) - y).square().mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


lightning.seed_everything(1)
x = torch.randn(320, 8)
module = Module()
trainer = lightning.Trainer(
    max_epochs=4,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(module, DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True))
print(f"left {module.layer.weight.double().sum().item()!r}")
