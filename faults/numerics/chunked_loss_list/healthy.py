"""Contrastive image-text model whose loss is summed over chunks of the batch."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def unit(x):
    return x / x.norm(dim=-1, keepdim=True).clamp_min(1e-6)


torch.manual_seed(19)
image = torch.randn(192, 14)
text = image @ torch.randn(14, 10)
text[22] = 0.0
image_tower, text_tower = nn.Linear(14, 8), nn.Linear(10, 8, bias=False)
optimizer = torch.optim.Adam([*image_tower.parameters(), *text_tower.parameters()], lr=3e-3)
loader = DataLoader(TensorDataset(image, text), batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(21))
for step, (a, b) in enumerate(loader):
    losses = []
    for left, right in zip(a.split(4), b.split(4)):
        similarity = (unit(image_tower(left)) * unit(text_tower(right))).sum(-1)
        losses.append((1 - similarity).mean())
    loss = sum(losses) / len(losses)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
