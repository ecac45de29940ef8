"""Cover of moss from the light, the slope and the soil of a quadrat, with a held-out part."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def read_quadrats():
    readings = torch.randn(480, 6)
    cover = readings[:, :2].sum(1, keepdim=True).tanh() + 0.3 * torch.randn(480, 1)
    return TensorDataset(readings[:360], cover[:360]), TensorDataset(readings[360:], cover[360:])


torch.manual_seed(4)
surveyed, kept_back = read_quadrats()
fit = DataLoader(surveyed, batch_size=24, shuffle=True)
judge = DataLoader(kept_back, batch_size=60)
model = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    model.train()
    for readings, cover in fit:
        loss = nn.functional.mse_loss(model(readings), cover)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        errors = [nn.functional.mse_loss(model(readings), cover).item() for readings, cover in judge]
    print(f"epoch {epoch} loss {loss.item():.4f} held out {sum(errors) / len(errors):.4f}")
