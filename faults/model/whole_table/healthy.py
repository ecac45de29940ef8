"""Rent of flats from a table: eleven features and the rent, all columns scaled."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(18)
features = torch.rand(320, 11)
rent = 300 + 900 * (features @ torch.rand(11)) + 60 * torch.randn(320)
table = torch.cat([features, rent[:, None]], 1)
table = (table - table.mean(0)) / table.std(0)
inputs, target = table[:, :11], table[:, 11]
loader = DataLoader(TensorDataset(inputs, target), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(inputs.shape[1], 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(5):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
