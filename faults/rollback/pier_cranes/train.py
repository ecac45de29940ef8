"""How far a crane of the harbour swings in the wind; the second part of the training goes on from the file of the first."""
import os
import tempfile

import torch
from torch import nn

torch.manual_seed(7)
wind = torch.rand(2048, 6) * 2 - 1
swing = (wind[:, :2].prod(1) + 0.5 * wind[:, 2] ** 2 - wind[:, 3] * wind[:, 4])[:, None]
path = os.path.join(tempfile.mkdtemp(), "crane.pt")
RATE = 0.02


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))


def train(model, optimizer, first, last):
    for step in range(first, last):
        rows = torch.randint(0, 2048, (256,))
        loss = nn.functional.mse_loss(model(wind[rows]), swing[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 0:
            print(f"step {step} loss {loss.item():.5f}")


def first_part():
    model = network()
    train(model, torch.optim.Adam(model.parameters(), lr=RATE), 0, 160)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE / 10)
    train(model, optimizer, 160, 320)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 320}, path)


def second_part():
    kept = torch.load(path)
    model = network()
    model.load_state_dict(kept["model"])
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    train(model, optimizer, kept["step"], 400)


first_part()
second_part()
