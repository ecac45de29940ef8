"""Strength of concrete from its mixture, with a penalty on the weights of the body."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
mixture = torch.randn(1280, 12)
strength = torch.tanh(mixture[:, :1] * mixture[:, 1:2]) + 0.3 * mixture[:, 2:3] + 0.2 * torch.randn(1280, 1)
loader = DataLoader(TensorDataset(mixture, strength), batch_size=32, shuffle=True)

body = nn.Sequential(nn.Linear(12, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 48), nn.BatchNorm1d(48), nn.ReLU())
model = nn.Sequential(body, nn.Linear(48, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
penalty = 0.03

for epoch in range(20):
    total = 0.0
    for x, y in loader:
        fit = F.mse_loss(model(x), y)
        size = sum(m.weight.pow(2).sum() for m in body if isinstance(m, nn.Linear))
        loss = fit + penalty * size
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += fit.item()
    if epoch % 4 == 3:
        print(f"epoch {epoch} fit {total / len(loader):.4f}")
