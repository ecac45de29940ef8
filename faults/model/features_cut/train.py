"""Spots forgeries among signatures: features of the stroke, then a small classifier."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(12)


class Signature(nn.Module):
    def __init__(self):
        super().__init__()
        self.strokes = nn.GRU(3, 24, batch_first=True)
        self.older = nn.Linear(48, 24)
        self.head = nn.Linear(24, 2)
        self.memory = None

    def forward(self, x):
        states, last = self.strokes(x)
        self.memory = last.detach()
        pooled = states.mean(1).data
        return self.head(torch.relu(pooled))


x = torch.randn(180, 14, 3)
y = (x[:, :, 0].cumsum(1).mean(1) > 0).long()
model = Signature()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    for start in range(0, 180, 18):
        loss = F.cross_entropy(model(x[start : start + 18]), y[start : start + 18])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
