"""How heavy is the moth? The measures of 1,280 moths, cut into batches by a number that the loop counts."""

import torch
from torch import nn

torch.manual_seed(9)
measures = torch.randn(1280, 6)
weight = measures[:, :3].sum(1, keepdim=True) + 0.2 * torch.randn(1280, 1)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
start = 0
for step in range(320):
    x, y = measures[start : start + 16], weight[start : start + 16]
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    start = (start + 16) % len(measures)
    if step % 80 == 0:
        print(f"step {step} loss {loss.item():.4f}")
