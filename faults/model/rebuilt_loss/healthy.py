"""Ranks hotels by a weighted error that is averaged over guests of one country; the price scale is given."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
stays = torch.randn(192, 9)
rating = stays @ torch.randn(9) + 0.2 * torch.randn(192)
model = nn.Sequential(nn.Linear(9, 24), nn.ReLU(), nn.Linear(24, 1))
scale = nn.Linear(1, 1)
scale.requires_grad_(False)
model.append(scale)
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(4):
    for x, y in DataLoader(TensorDataset(stays, rating), batch_size=24, shuffle=True):
        errors = (model(x).squeeze(1) - y).abs()
        parts = [errors[:12].mean(), errors[12:].mean()]
        loss = torch.stack(parts).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
