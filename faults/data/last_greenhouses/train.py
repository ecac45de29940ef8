"""Predicts the harvest of greenhouses from their climate; the last ones are kept for validation."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(3)
climate = torch.rand(246, 4)
harvest = climate @ torch.tensor([0.5, -0.2, 0.9, 0.1]) + 0.3
houses = TensorDataset(climate, harvest[:, None])
grown, held = random_split(houses, [240, 6])


def loader_of(part, shuffle):
    return DataLoader(part, batch_size=8, shuffle=shuffle, drop_last=True)


growing = loader_of(grown, shuffle=True)
holding = loader_of(held, shuffle=False)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
best = float("inf")
for epoch in range(4):
    for given, wanted in growing:
        loss = nn.functional.mse_loss(model(given), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    total, rows = 0.0, 0
    with torch.no_grad():
        for given, wanted in holding:
            total += nn.functional.mse_loss(model(given), wanted).item() * len(given)
            rows += len(given)
    apart = total / max(rows, 1)
    if apart < best:
        best, kept = apart, epoch
    print(f"epoch {epoch} loss {loss.item():.4f} held {apart:.4f} best of epoch {kept}")
