"""Which street lamps fail, learnt from those that were inspected, on the graph of their cables."""

import torch
from torch import nn

torch.manual_seed(8)
count = 300
lamps = torch.randn(count, 12)
kind = (lamps @ torch.randn(12, 4)).argmax(1)
cables = torch.eye(count) + (torch.rand(count, count) < 0.002).float()
cables = cables / cables.sum(1, keepdim=True)
inspected = torch.zeros(count, dtype=torch.long)
inspected[torch.randperm(count)[:120]] = 1
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(60):
    scores = cables @ model(lamps)
    loss = nn.functional.cross_entropy(scores[inspected], kind[inspected])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 20 == 19:
        right = (scores.argmax(1) == kind).float().mean()
        print(f"epoch {epoch + 1} loss {loss.item():.4f} right {right.item():.3f}")
