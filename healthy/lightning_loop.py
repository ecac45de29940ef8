"""Lightning with manual logging, validation, gradient clipping and accumulation."""
import logging
import sys
import warnings
import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Module(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))

    def training_step(self, batch, i):
        loss = F.cross_entropy(self.net(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, i):
        self.log("val_loss", F.cross_entropy(self.net(batch[0]), batch[1]))

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), 1e-2)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(opt, 4)}


x = torch.randn(480, 10)
y = x[:, :3].argmax(1)
trainer = L.Trainer(max_epochs=4, accumulate_grad_batches=2, gradient_clip_val=1.0, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, accelerator="cpu")
trainer.fit(Module(), DataLoader(TensorDataset(x, y), 16, shuffle=True), DataLoader(TensorDataset(x[:64], y[:64]), 32))
