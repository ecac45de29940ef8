"""Small picture classifier; the crops have grown since the head was written."""

import torch
import torch.nn as nn


class Pictures(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU())
        self.head = nn.Linear(16 * 7 * 7, 5)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


torch.manual_seed(9)
model = Pictures()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for step in range(10):
    x, y = torch.rand(8, 3, 32, 32), torch.randint(0, 5, (8,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
