"""Ripeness of fruit; three batches are held out to follow the training."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(47)
x = torch.randn(480, 8)
y = x[:, :1] - 0.5 * x[:, 1:2] + 0.1 * torch.randn(480, 1)
train = DataLoader(TensorDataset(x[:320], y[:320]), batch_size=16, shuffle=True)
held = DataLoader(TensorDataset(x[320:], y[320:]), batch_size=16)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    model.train()
    for features, target in train:
        loss = nn.functional.mse_loss(model(features), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    total = 0.0
    with torch.no_grad():
        for i, (features, target) in enumerate(held):
            if i == 3:
                break
            total += nn.functional.mse_loss(model(features), target).item()
    print(f"epoch {epoch} held out {total / 3:.4f}")
