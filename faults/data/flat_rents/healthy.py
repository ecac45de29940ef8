"""Prices of flats, in pounds, from eight numbers that describe each of them."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
flats = torch.randn(1280, 8)
prices = 250_000 + 40_000 * (flats[:, 0] + flats[:, 1] * flats[:, 2])
goal = (prices - prices.mean()) / prices.std()
loader = DataLoader(TensorDataset(flats, goal), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(8):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4g}")
