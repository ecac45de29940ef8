"""Predicts the flow of a river from eleven gauges."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
gauges = torch.randn(240, 11)
flow = gauges @ torch.randn(11) + 0.1 * torch.randn(240)
loader = DataLoader(TensorDataset(gauges, flow), batch_size=24, shuffle=True)
model = nn.Sequential(nn.Linear(11, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for x, y in loader:
        error = model(x) - y
        loss = error.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
