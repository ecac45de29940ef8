"""Height of the tide, with a warm-up written by hand."""

import torch
from torch import nn

torch.manual_seed(5)
BASE, WARMUP, STEPS = 1e-2, 50, 240
moon = torch.rand(600, 3) * 2 - 1
height = torch.sin(3 * moon[:, :1]) * moon[:, 1:2] + moon[:, 2:]
model = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=BASE)


def rate(step):
    if step < WARMUP:
        return BASE * (step + 1) / WARMUP
    return BASE * (1 - 0.5 * (step - WARMUP) / (STEPS - WARMUP))


for step in range(STEPS):
    for group in optimizer.param_groups:
        group["lr"] = rate(step)
    rows = torch.randint(0, len(moon), (64,))
    loss = nn.functional.mse_loss(model(moon[rows]), height[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step} loss {loss.item():.4f}")
