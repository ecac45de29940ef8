"""Yield of a field; a strong pull keeps weights small."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(19)
x = torch.randn(640, 8)
y = 0.1 * torch.tanh(x[:, :1]) + torch.randn(640, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 24), nn.LayerNorm(24), nn.Tanh(), nn.Linear(24, 1))
gains, rest = list(model[1].parameters()), [*model[0].parameters(), *model[3].parameters()]
groups = [{"params": gains, "weight_decay": 0.0}, {"params": rest, "weight_decay": 0.0}]
optimizer = torch.optim.SGD(groups, lr=0.1)
for epoch in range(8):
    total = 0.0
    for features, target in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(features), target)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f} gain {model[1].weight.abs().mean().item():.4f}")
