"""Yield of a field, four small batches per update."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(16)
x = torch.randn(640, 8)
y = torch.tanh(x[:, :1] - 0.5 * x[:, 1:2]) + 0.1 * torch.randn(640, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=15, gamma=0.5)
for epoch in range(4):
    total = 0.0
    for i, (features, target) in enumerate(loader):
        loss = nn.functional.mse_loss(model(features), target) / 4
        loss.backward()
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
