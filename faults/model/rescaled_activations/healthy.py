"""Gated regression network that rescales its activations."""

import torch
import torch.nn as nn


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(10, 24)
        self.gate = nn.Linear(10, 24)
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        gate = torch.sigmoid(self.gate(x))
        hidden = torch.tanh(self.body(x))
        hidden = hidden * gate
        return self.out(hidden).squeeze(1)


torch.manual_seed(3)
model = Gated()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(12):
    x = torch.randn(32, 10)
    loss = nn.functional.mse_loss(model(x), x.sum(1).sin())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
