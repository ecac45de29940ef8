"""Tide tables read in two nights: the second goes on from the file of the first; warm-up and cosine written in the loop."""

import math
import os
import tempfile

import torch
from torch import nn

RATE, WARMUP, STEPS = 3e-2, 30, 400


def rate_at(step):
    if step < WARMUP:
        return RATE * (step + 1) / WARMUP
    return 1e-2 * RATE + 0.5 * RATE * (1 + math.cos(math.pi * (step - WARMUP) / (STEPS - WARMUP)))


def night(model, optimizer, begin, end):
    for step in range(begin, end):
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step)
        rows = torch.randint(0, len(days), (32,))
        loss = nn.functional.mse_loss(model(days[rows]), tides[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 39:
            print(f"step {step} loss {loss.item():.4f}")


def network():
    return nn.Sequential(nn.Linear(9, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))


torch.manual_seed(17)
days = torch.randn(1200, 9)
tides = (days[:, :2].prod(1) + torch.sin(days[:, 2] * 2)).unsqueeze(1)
path = os.path.join(tempfile.mkdtemp(), "night.pt")

model = network()
optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
night(model, optimizer, 0, 340)
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 340}, path)

saved = torch.load(path)
model = network()
model.load_state_dict(saved["model"])
optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
optimizer.load_state_dict(saved["optimizer"])
begin = saved["step"]
night(model, optimizer, begin, 400)
with torch.no_grad():
    print(f"all days {nn.functional.mse_loss(model(days), tides).item():.4f}")
