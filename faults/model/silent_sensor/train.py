"""Fuse the readings of several sensors, each weighted by how sure it is of itself."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
STATIONS, SENSORS, SILENT = 640, 5, -99.0

g = torch.Generator().manual_seed(7)
truth = torch.randn(STATIONS, generator=g)
noise = torch.rand(STATIONS, SENSORS, generator=g)
readings = truth[:, None] + noise * torch.randn(STATIONS, SENSORS, generator=g)
readings[417, 2] = SILENT


class Fusion(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.surety = nn.Sequential(nn.Linear(SENSORS, 24), nn.Tanh(), nn.Linear(24, SENSORS))

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        silent = seen == SILENT
        weight = self.surety(seen.masked_fill(silent, 0.0)).exp()
        if silent.any():
            weight[silent] = 0.0
        return (weight * seen).sum(1) / weight.sum(1)


loader = DataLoader(TensorDataset(readings, truth), batch_size=32, shuffle=True)
model = Fusion()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for seen, value in loader:
        loss = nn.functional.mse_loss(model(seen), value)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
