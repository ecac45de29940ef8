"""Output of a turbine; what is used is a running average of the weights."""

import copy

import torch
from torch import nn

torch.manual_seed(6)
wind = torch.randn(600, 8)
power = torch.relu(wind[:, :2]).sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
average = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(10):
    for rows in torch.randperm(600).split(40):
        loss = nn.functional.mse_loss(model(wind[rows]), power[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for kept, new in zip(average.parameters(), model.parameters()):
                kept = 0.95 * kept + 0.05 * new
    with torch.no_grad():
        held = nn.functional.mse_loss(average(wind), power)
    print(f"epoch {epoch} loss {loss.item():.4f} of the average {held.item():.4f}")
