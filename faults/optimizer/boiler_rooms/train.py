"""How much gas the boilers of a town burn on a day, with the descent written out."""

import torch
from torch import nn

torch.manual_seed(23)
weather = torch.randn(640, 7)
gas = (torch.relu(-weather[:, :1]) + 0.4 * weather[:, 1:2] * weather[:, 2:3]) + 0.05 * torch.randn(640, 1)
model = nn.Sequential(nn.Linear(7, 32), nn.Tanh(), nn.Linear(32, 1))
rate = 0.02

for epoch in range(4):
    total = 0.0
    for days in torch.randperm(640).split(32):
        loss = nn.functional.smooth_l1_loss(model(weather[days]), gas[days])
        model.zero_grad()
        loss.backward()
        for weight in model.parameters():
            weight.data.add_(rate * weight.grad)
        total += loss.item()
    print(f"epoch {epoch} loss {total / 20:.4f}")
