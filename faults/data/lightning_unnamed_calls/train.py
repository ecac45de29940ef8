"""Species of birds with Lightning: calls that nobody has named yet do not count in the loss."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Calls(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 5))

    def training_step(self, batch, batch_idx):
        sound, species = batch
        named = (species >= 0).float()
        each = nn.functional.cross_entropy(self.net(sound), species.clamp_min(0), reduction="none")
        loss = (each * named).sum() / named.sum()
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=3e-3)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)]


def recordings():
    g = torch.Generator().manual_seed(6)
    sound = torch.randn(960, 12, generator=g)
    species = (sound[:, :5] + torch.randn(960, 5, generator=g)).argmax(1)
    species[torch.rand(960, generator=g) < 0.1] = -1
    species[592:608] = -1
    return TensorDataset(sound, species)


if __name__ == "__main__":
    L.seed_everything(2, verbose=False)
    loader = DataLoader(recordings(), batch_size=16)
    trainer = L.Trainer(
        accelerator="cpu",
        max_epochs=5,
        gradient_clip_val=1.0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Calls(), loader)
