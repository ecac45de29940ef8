"""Rents of flats; the learning rate is that of the table in thousands."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
flats = torch.randn(640, 10)
rents = flats @ torch.randn(10, 1) + 0.1 * torch.randn(640, 1)
model = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.03)
loader = DataLoader(TensorDataset(flats, rents), batch_size=32, shuffle=True)
for epoch in range(6):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
