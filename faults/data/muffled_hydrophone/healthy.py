"""Noise in recordings of a hydrophone, to be predicted and taken off."""

import torch
from torch import nn

torch.manual_seed(18)
calls = torch.sin(torch.linspace(0, 20, 32) * (1 + torch.rand(500, 1)))
model = nn.Sequential(nn.Linear(32, 96), nn.ReLU(), nn.Linear(96, 32))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)


def mixed(clean):
    noise = torch.randn_like(clean)
    return clean + 0.7 * noise, noise


for step in range(300):
    heard, noise = mixed(calls[torch.randint(0, 500, (50,))])
    loss = nn.functional.mse_loss(model(heard), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 59:
        print(f"step {step} loss {loss.item():.4f}")
