"""Trainer(detect_anomaly=True): a NaN in the backward raises there, as Lightning's user has asked."""
import sys
import traceback
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


class Distances(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)

    def training_step(self, batch, index):
        y = self.body(batch[0]) * (0.0 if index == 5 else 1.0)
        loss = torch.sqrt((y * y).sum(1)).mean()
        print(index, loss.item().hex(), torch.is_anomaly_enabled())
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


L.seed_everything(3, verbose=False)
model = Distances()
data = DataLoader(TensorDataset(torch.rand(32, 4)), batch_size=4)
trainer = L.Trainer(detect_anomaly=True, max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
try:
    trainer.fit(model, data)
except RuntimeError as error:
    frames = traceback.extract_tb(error.__traceback__)
    print(error, frames[-1].name, [f.name for f in frames if f.filename == __file__], torch.is_anomaly_enabled())
    print([p.double().sum().item().hex() for p in model.parameters()])
if "--raise" in sys.argv:
    trainer.fit(Distances(), data)
