"""A network for nine regions is given a new head for four."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(7)
model = nn.Sequential()
model.add_module("body", nn.Sequential(nn.Linear(12, 32), nn.ReLU()))
model.add_module("head", nn.Linear(32, 9))
model.head = nn.Linear(32, 4)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
soils = torch.randn(300, 12)
regions = (soils @ torch.randn(12, 4)).argmax(1)
for epoch in range(4):
    for start in range(0, 300, 30):
        loss = F.cross_entropy(model(soils[start : start + 30]), regions[start : start + 30])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
