"""Soil moisture from eight sensors, with a descent written in the loop."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
x = torch.randn(768, 8)
y = torch.tanh(x[:, :1] - 0.5 * x[:, 1:2]) + 0.1 * torch.randn(768, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 1))
rate = 0.1
for epoch in range(4):
    total = 0.0
    for features, target in loader:
        model.zero_grad()
        loss = nn.functional.mse_loss(model(features), target)
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p = p - rate * p.grad
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
