"""Polynomial features through four layers whose weights are drawn by hand."""

import torch
import torch.nn as nn

torch.manual_seed(8)
SPREAD = 0.1
layers = [nn.Linear(16, 64), nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 1)]
with torch.no_grad():
    for layer in layers:
        layer.weight.normal_(0, SPREAD)
model = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2], nn.ReLU(), layers[3])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(160):
    x = torch.randn(32, 16)
    y = x[:, :1] * x[:, 1:2]
    loss = (model(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.4f}")
