"""Inflow of a reservoir from rain at ten stations."""

import torch
from torch import nn

torch.manual_seed(3)
rain = torch.rand(640, 10)
inflow = (rain[:, :5].prod(1) * 20 + rain[:, 5]).unsqueeze(1)
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-4)

for epoch in range(8):
    total = 0.0
    for rows in torch.randperm(640).split(32):
        loss = nn.functional.mse_loss(model(rain[rows]), inflow[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 20:.4f}")
