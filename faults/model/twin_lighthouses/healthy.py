"""Whether two flashes come from the same lighthouse: one network for both, and a layer that compares."""

import torch
from torch import nn

torch.manual_seed(11)


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 16))
        self.head = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, first, second):
        a = self.body(first)
        b = self.body(second)
        return self.head(torch.cat([(a - b).abs(), a * b], 1)).squeeze(1)


houses = torch.randn(12, 24)
model = Pair()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(400):
    left, same = torch.randint(0, 12, (64,)), torch.rand(64) < 0.5
    right = torch.where(same, left, torch.randint(0, 12, (64,)))
    first, second = houses[left] + 0.2 * torch.randn(64, 24), houses[right] + 0.2 * torch.randn(64, 24)
    loss = nn.functional.binary_cross_entropy_with_logits(model(first, second), (left == right).float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 80 == 79:
        print(f"step {step} loss {loss.item():.4f}")
