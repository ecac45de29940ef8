"""Clustering loss over all pairs of points; the second file is much longer."""

import torch
import torch.nn as nn

torch.manual_seed(1)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step, count in enumerate((200, 300, 800)):
    place = model(torch.rand(count, 2)).squeeze(1)
    gaps = place[:, None] - place[None, :]
    loss = gaps.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
