import sys

import lightning as L
import torch
from language import BATCH, Model, Sentences, loss_of
from torch.utils.data import DataLoader


class Module(L.LightningModule):
    def __init__(self, bug):
        super().__init__()
        self.bug, self.model = bug, Model(bug)

    def forward(self, batch):
        return self.model(batch["tokens"], batch["pad"], batch["scale"])

    def training_step(self, batch, index):
        loss = loss_of(self.bug, self(batch), batch)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


bug = sys.argv[1]
L.seed_everything(0)
trainer = L.Trainer(
    max_epochs=2,
    accelerator="cpu",
    accumulate_grad_batches=2,
    gradient_clip_val=1.0,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(Module(bug), DataLoader(Sentences(bug), batch_size=BATCH, shuffle=True))
