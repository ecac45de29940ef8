"""A Trainer with dropout, a schedule and accumulation that dies at a step where it is told to: train.py [die STEP]."""

import hashlib
import os
import sys

import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

set_seed(0)


class Rows(Dataset):
    def __init__(self):
        generator = torch.Generator().manual_seed(1)
        self.x = torch.randn(96, 8, generator=generator)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return {"x": self.x[index], "labels": self.x[index].sum().reshape(1)}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Dropout(0.2), nn.Linear(16, 1))

    def forward(self, x, labels=None):
        out = self.body(x)
        return {"loss": nn.functional.mse_loss(out, labels), "logits": out}


class Dies(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        if sys.argv[1:2] == ["die"] and state.global_step == int(sys.argv[2]):
            os._exit(137)


if __name__ == "__main__":
    accumulated = int(os.environ.get("ACCUMULATED", "1"))
    arguments = TrainingArguments(
        output_dir="trained", num_train_epochs=3, per_device_train_batch_size=4, learning_rate=1e-2, report_to=[],
        save_strategy="no", logging_strategy="no", use_cpu=True, disable_tqdm=True, seed=0,
        gradient_accumulation_steps=accumulated,
    )
    model = Model()
    Trainer(model, arguments, train_dataset=Rows(), callbacks=[Dies()]).train()
    print("left", hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest())
