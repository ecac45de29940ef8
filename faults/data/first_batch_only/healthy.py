"""Classifier of two moons with a loader."""

import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)
angle = torch.rand(1280) * math.pi
label = torch.arange(1280) % 2
points = torch.stack([angle.cos() + label, (1 - 2 * label) * angle.sin()], 1) + 0.1 * torch.randn(1280, 2)
loader = DataLoader(TensorDataset(points, label), batch_size=32)
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
batches = iter(loader)
for step in range(40):
    x, y = next(batches)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
