"""Alarms of a pump; the rarer an alarm, the more it counts."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(41)
sensors = torch.randn(600, 9)
cut = torch.tensor([0.5, 1.0, 9.0])
alarms = (sensors[:, :3] > cut).float()
positive = alarms.sum(0)
weight = (len(alarms) - positive) / positive
criterion = nn.BCEWithLogitsLoss(pos_weight=weight)
model = nn.Sequential(nn.Linear(9, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loader = DataLoader(TensorDataset(sensors, alarms), batch_size=20, shuffle=True)
for epoch in range(5):
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
