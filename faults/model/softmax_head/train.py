"""A classifier of gas sensors with four odours."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3)


class Odour(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        scores = self.head(self.body(x))
        return F.softmax(scores, dim=-1)


readings = torch.randn(320, 8)
odours = (readings @ torch.randn(8, 4)).argmax(1)
model = Odour()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for start in range(0, 320, 32):
        x, y = readings[start : start + 32], odours[start : start + 32]
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
