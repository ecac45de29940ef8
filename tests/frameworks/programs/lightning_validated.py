"""Lightning with automatic optimization: accumulation, clipping, validation with metrics, a callback, checkpoint and resume."""
import tempfile
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


class Regressor(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x).squeeze(1), y)
        self.log("loss", loss)
        return {"loss": loss, "note": "kept"}

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val", nn.functional.mse_loss(self.net(x).squeeze(1), y))

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=40), "interval": "step"}}


class Printer(L.Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        print(trainer.global_step, outputs["loss"].item().hex(), trainer.optimizers[0].param_groups[0]["lr"])

    def on_validation_epoch_end(self, trainer, module):
        print("val", trainer.callback_metrics["val"].item().hex())


def trainer(folder, epochs):
    return L.Trainer(accelerator="cpu", max_epochs=epochs, accumulate_grad_batches=2, gradient_clip_val=1.0, logger=False, default_root_dir=folder,
                     enable_progress_bar=False, enable_model_summary=False, callbacks=[Printer()], num_sanity_val_steps=0)


if __name__ == "__main__":
    L.seed_everything(2, verbose=False)
    x = torch.randn(48, 5)
    train, val = DataLoader(TensorDataset(x, x.sum(1)), batch_size=6, shuffle=True), DataLoader(TensorDataset(x[:12], x[:12].sum(1)), batch_size=6)
    with tempfile.TemporaryDirectory() as folder:
        first = trainer(folder, 1)
        first.fit(Regressor(), train, val)
        first.save_checkpoint(f"{folder}/kept.ckpt")
        trainer(folder, 2).fit(Regressor(), train, val, ckpt_path=f"{folder}/kept.ckpt")
