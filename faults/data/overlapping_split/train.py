"""Nearest-class regression with a held-out part."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
x = torch.randn(600, 8)
y = (x[:, :2].sum(1, keepdim=True) > 0).float()
order = torch.randperm(600)
train, test = order[:500], order[440:]
fit = DataLoader(TensorDataset(x[train], y[train]), batch_size=25, shuffle=True)
held = DataLoader(TensorDataset(x[test], y[test]), batch_size=50)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    model.train()
    for a, b in fit:
        loss = nn.functional.binary_cross_entropy_with_logits(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = sum(((model(a) > 0) == b).sum().item() for a, b in held)
    print(f"epoch {epoch} loss {loss.item():.4f} right {right} of {len(test)}")
