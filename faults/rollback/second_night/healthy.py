"""Turbine load from wind: one night of training, kept in a file, and the next night goes on from it."""
import os
import tempfile

import torch
from torch import nn

torch.manual_seed(5)
wind = torch.rand(4096, 6) * 2 - 1
load = (wind[:, :3].prod(1) + wind[:, 3] ** 2)[:, None] + 0.02 * torch.randn(4096, 1)
path = os.path.join(tempfile.mkdtemp(), "turbine.pt")


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))


def train(model, optimizer, first, last):
    for step in range(first, last):
        rows = torch.randint(0, 4096, (64,))
        loss = nn.functional.mse_loss(model(wind[rows]), load[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step in range(0, 320, 40):
            print(f"step {step} loss {loss.item():.4f}")


def first_night():
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    train(model, optimizer, 0, 160)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 160}, path)


def second_night():
    kept = torch.load(path)
    model = network()
    model.load_state_dict(kept["model"])
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    optimizer.load_state_dict(kept["optimizer"])
    train(model, optimizer, kept["step"], 320)


first_night()
second_night()
