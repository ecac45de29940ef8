"""Calibration of a sensor in two stages; the second one has a rate of its own."""

import torch
import torch.nn as nn

torch.manual_seed(19)
x = torch.randn(600, 8)
y = torch.tanh(x[:, :1] + 0.5 * x[:, 1:2]) + 0.05 * torch.randn(600, 1)
model = nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(240):
    if step == 150:
        optimizer.param_groups[0]["lr"] = 0.0015
    rows = torch.randint(0, 600, (32,))
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step} loss {loss.item():.4f}")
