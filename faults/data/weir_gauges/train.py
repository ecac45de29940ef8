"""Flow over a weir from eight gauges above it, in shuffled batches."""

import torch
from torch import nn

torch.manual_seed(21)
gauges = torch.randn(960, 8)
flow = (gauges[:, :3].sum(1) * gauges[:, 3].sigmoid()).unsqueeze(1)
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(10):
    order = torch.randperm(len(gauges))
    total = 0.0
    for begin in range(0, len(gauges), 32):
        rows = order[begin : begin + 32]
        seen, wanted = gauges[rows], flow[begin : begin + 32]
        loss = nn.functional.mse_loss(model(seen), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 30:.4f}")
