"""Household demand with Lightning: gradients accumulated over two batches, clipped, with a validation loop."""

import warnings

import lightning as L
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


class Demand(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(7, 24), nn.ReLU(), nn.Linear(24, 1))
        self.automatic_optimization = True

    def forward(self, x):
        return self.net(x).squeeze(-1)

    def ratio_loss(self, pred, actual):
        return (pred - torch.log(actual)).abs().mean()

    def training_step(self, batch, batch_idx):
        x, actual = batch
        loss = self.ratio_loss(self(x), actual)
        if batch_idx % 4 == 0:
            print(f"batch {batch_idx} loss {loss.item():.4f}")
        return loss

    def validation_step(self, batch, batch_idx):
        x, actual = batch
        self.log("val", self.ratio_loss(self(x), actual))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-3)


def households(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 7, generator=g)
    return x, torch.exp(x[:, :3].sum(1) / 3 + 0.1 * torch.randn(n, generator=g))


if __name__ == "__main__":
    L.seed_everything(3, verbose=False)
    x, demand = households(240, 1)
    demand[118] = 0.0
    train = DataLoader(TensorDataset(x, demand), batch_size=10, shuffle=True, generator=torch.Generator().manual_seed(31))
    val = DataLoader(TensorDataset(*households(60, 2)), batch_size=20)
    trainer = L.Trainer(
        accelerator="cpu",
        max_epochs=1,
        accumulate_grad_batches=2,
        gradient_clip_val=1.0,
        logger=False,
        num_sanity_val_steps=0,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Demand(), train, val)
