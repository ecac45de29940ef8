"""Layout of molecules: distances of all pairs of atoms shall be those that were measured."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def distances(points):
    gaps = points[:, :, None] - points[:, None]
    return torch.sqrt(gaps.square().sum(-1) + 1e-8)


torch.manual_seed(26)
shapes = torch.randn(320, 7, 3)
measured = torch.cdist(shapes, shapes)
model = nn.Sequential(nn.Linear(49, 64), nn.SiLU(), nn.Linear(64, 21), nn.Unflatten(1, (7, 3)))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(measured), batch_size=16, shuffle=True)
for epoch in range(6):
    for (wanted,) in loader:
        loss = (distances(model(wanted.flatten(1))) - wanted).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
