"""Sentence similarity with the transformers Trainer: two accumulation steps, clipping at 1.0."""

import tempfile

import torch
import torch.nn as nn
from transformers import Trainer, TrainingArguments, set_seed


class Pairs(torch.utils.data.Dataset):
    def __init__(self, n=200):
        g = torch.Generator().manual_seed(6)
        self.ids = torch.randint(1, 90, (n, 9), generator=g)
        self.label = (self.ids[:, 0] % 3).float() / 2
        self.ids[133] = 0

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "attention_mask": (self.ids[i] > 0).long(), "labels": self.label[i]}


class Similarity(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(90, 24)
        self.mlp = nn.Sequential(nn.Linear(24, 24), nn.GELU(), nn.Dropout(0.1), nn.Linear(24, 1))

    def forward(self, input_ids, attention_mask=None, labels=None):
        h = self.embed(input_ids) * attention_mask.unsqueeze(-1)
        sentence = h.sum(1) / attention_mask.sum(1, keepdim=True).clamp_min(1)
        score = self.mlp(sentence).squeeze(-1)
        loss = nn.functional.mse_loss(score, labels) if labels is not None else None
        return {"loss": loss, "logits": score}


if __name__ == "__main__":
    set_seed(7)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=1,
        per_device_train_batch_size=5,
        gradient_accumulation_steps=2,
        max_grad_norm=1.0,
        learning_rate=2e-3,
        logging_steps=4,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        seed=7,
    )
    Trainer(model=Similarity(), args=args, train_dataset=Pairs()).train()
