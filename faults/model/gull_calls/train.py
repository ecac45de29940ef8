"""Calls of gulls and the pictures of those who called, brought together."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(6)
gulls = torch.randn(640, 8)
calls, pictures = gulls @ torch.randn(8, 20), gulls @ torch.randn(8, 15)
ears = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 16))
eyes = nn.Sequential(nn.Linear(15, 48), nn.ReLU(), nn.Linear(48, 16))
optimizer = torch.optim.Adam([*ears.parameters(), *eyes.parameters()], lr=2e-3)
for epoch in range(4):
    for start in range(0, 640, 32):
        heard = F.normalize(ears(calls[start : start + 32]), dim=1)
        seen = F.normalize(eyes(pictures[start : start + 32]), dim=1)
        loss = F.cross_entropy(heard @ seen.T / 20.0, torch.arange(32))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
