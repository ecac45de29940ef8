"""Sequence tagging with gradients accumulated over four small batches."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

ACCUMULATE = 4


class Tagged(Dataset):
    def __init__(self, n=256, length=10):
        g = torch.Generator().manual_seed(2)
        self.tokens = torch.randint(0, 50, (n, length), generator=g)
        self.tags = self.tokens % 5
        self.labelled = torch.rand(n, length, generator=g) > 0.3
        self.labelled[:, 0] = True
        self.labelled[193] = False

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, i):
        return self.tokens[i], self.tags[i], self.labelled[i].float()


def sentence_loss(logits, tags, labelled):
    each = F.cross_entropy(logits.transpose(1, 2), tags, reduction="none")
    return (each * labelled).sum(1) / labelled.sum(1)


torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(50, 24), nn.Linear(24, 24), nn.GELU(), nn.Linear(24, 5))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
loader = DataLoader(Tagged(), batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(3))
running = 0.0
for i, (tokens, tags, labelled) in enumerate(loader):
    loss = sentence_loss(model(tokens), tags, labelled).mean() / ACCUMULATE
    loss.backward()
    running += loss.item()
    if (i + 1) % ACCUMULATE == 0:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"update {i // ACCUMULATE} loss {running:.4f}")
        running = 0.0
