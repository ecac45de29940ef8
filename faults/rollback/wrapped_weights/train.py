"""Pretraining on all devices, then a run on one; the weights go through a file."""

import io

import torch
import torch.nn as nn


def make():
    return nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))


def train(model, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(steps):
        x = torch.randn(24, 6)
        loss = nn.functional.mse_loss(model(x).squeeze(1), x.sin().sum(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


torch.manual_seed(3)
wide = nn.DataParallel(make())
train(wide, 8)
file = io.BytesIO()
torch.save(wide.state_dict(), file)
file.seek(0)
model = make()
model.load_state_dict(torch.load(file))
train(model, 8)
