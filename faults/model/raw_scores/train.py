"""Sort fruit from stones by weight and colour; the discriminating network gives scores."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
weights = torch.randn(192, 5)
stones = (weights[:, 0] + weights[:, 2] > 0).float()
loader = DataLoader(TensorDataset(weights, stones), batch_size=24, shuffle=True, generator=torch.Generator().manual_seed(2))
sorter = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(sorter.parameters(), lr=1e-2)
for epoch in range(3):
    for x, y in loader:
        loss = criterion(sorter(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
