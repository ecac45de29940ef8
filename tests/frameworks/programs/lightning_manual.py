"""A GAN in Lightning with manual optimization, two optimizers and an LR scheduler."""
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


class Gan(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.make, self.judge = nn.Linear(4, 6), nn.Linear(6, 1)

    def training_step(self, batch, batch_idx):
        (real,) = batch
        opt_make, opt_judge = self.optimizers()
        fake = self.make(torch.randn(len(real), 4))
        judged = nn.functional.softplus(-self.judge(real)).mean() + nn.functional.softplus(self.judge(fake.detach())).mean()
        opt_judge.zero_grad()
        self.manual_backward(judged)
        opt_judge.step()
        made = nn.functional.softplus(-self.judge(fake)).mean()
        opt_make.zero_grad()
        self.manual_backward(made)
        self.clip_gradients(opt_make, gradient_clip_val=0.5, gradient_clip_algorithm="norm")
        opt_make.step()
        self.lr_schedulers().step()
        print(batch_idx, judged.item().hex(), made.item().hex())

    def configure_optimizers(self):
        make, judge = torch.optim.Adam(self.make.parameters(), lr=1e-2), torch.optim.RMSprop(self.judge.parameters(), lr=1e-2)
        return [make, judge], [torch.optim.lr_scheduler.StepLR(make, 3)]


if __name__ == "__main__":
    L.seed_everything(1, verbose=False)
    trainer = L.Trainer(accelerator="cpu", max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Gan(), DataLoader(TensorDataset(torch.randn(40, 6)), batch_size=8, shuffle=True))
    print(trainer.global_step)
