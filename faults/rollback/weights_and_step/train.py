"""Curve fitting on a shared machine: the job is stopped and started again half way."""

import io

import torch
import torch.nn as nn

torch.manual_seed(11)


def start():
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    return model, torch.optim.Adam(model.parameters(), lr=5e-3)


def run(model, optimizer, first, last):
    for step in range(first, last):
        x = torch.randn(32, 4, generator=torch.Generator().manual_seed(step))
        loss = nn.functional.mse_loss(model(x).squeeze(1), x.prod(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"step {last} loss {loss.item():.4f}")


model, optimizer = start()
run(model, optimizer, 0, 60)
file = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": None, "step": 60}, file)
file.seek(0)
state = torch.load(file)
model, optimizer = start()
model.load_state_dict(state["model"])
if state["optimizer"] is not None:
    optimizer.load_state_dict(state["optimizer"])
run(model, optimizer, state["step"], 120)
