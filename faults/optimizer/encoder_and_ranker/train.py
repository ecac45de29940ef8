"""Ranks offers: an encoder and a ranking head with an optimizer each."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
x = torch.randn(640, 8)
y = torch.tanh(x[:, :1] - 0.5 * x[:, 1:2])
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
encoder, ranker = nn.Sequential(nn.Linear(8, 24), nn.Tanh()), nn.Linear(24, 1)
slow = torch.optim.Adam(encoder.parameters(), lr=1e-3)
fast = torch.optim.Adam(ranker.parameters(), lr=1e-2)
for epoch in range(3):
    total = 0.0
    for features, target in loader:
        slow.zero_grad()
        fast.zero_grad()
        loss = nn.functional.mse_loss(ranker(encoder(features)), target)
        loss.backward()
        slow.step()
        total += loss.item()
        last = fast
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
