"""Predict the drift of a buoy; batches are drawn by hand, eight small ones make one update."""

import torch
from torch import nn

torch.manual_seed(33)
readings = torch.randn(4096, 6)
drift = readings @ torch.randn(6, 1) + 0.1 * torch.randn(4096, 1)
model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
PARTS = 8
for step in range(40):
    for part in range(PARTS):
        rows = torch.randint(0, 4096, (16,))
        loss = nn.functional.mse_loss(model(readings[rows]), drift[rows])
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(f"loss {loss.item():.4f}")
