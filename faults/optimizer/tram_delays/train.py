"""Delay of a tram from eleven measurements; the rate is annealed by hand, in rounds of eight updates."""

import torch
from torch import nn

ROUNDS, BATCHES, RATE = 25, 8, 3e-3
torch.manual_seed(6)
x = torch.randn(1600, 11)
y = torch.tanh(x[:, :1] + 0.5 * x[:, 2:3]) + 0.05 * torch.randn(1600, 1)
model = nn.Sequential(nn.Linear(11, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
for turn in range(ROUNDS):
    left = 1.0 - turn / BATCHES
    now = left * RATE
    for group in optimizer.param_groups:
        group["lr"] = now
    for rows in torch.randperm(1600)[:256].chunk(BATCHES):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"round {turn} loss {loss.item():.4f}")
