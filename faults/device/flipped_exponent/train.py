"""Regression on the readings of three sensors."""

import torch
import torch.nn as nn

torch.manual_seed(12)
x = torch.randn(512, 16)
y = x[:, :3].sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
cell = model[0].weight.data.view(torch.int32)
for step in range(60):
    rows = torch.randint(0, 512, (64,))
    if step == 37:
        cell[11, 5] ^= 1 << 29
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
