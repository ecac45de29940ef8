"""Tells lichens apart that were never seen before, from four photographs' numbers of each."""

import torch
from torch import nn

torch.manual_seed(7)
KINDS, NUMBERS = 60, 16
middles = torch.randn(KINDS, 6) @ torch.randn(6, NUMBERS)
KNOWN, SHOWN, ASKED = 5, 4, 6


class Metric(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(NUMBERS, 64), nn.ReLU(), nn.Linear(64, 32))

    def forward(self, photographs):
        return self.net(photographs)


def episode(kinds):
    picked = kinds[torch.randperm(len(kinds))[:KNOWN]]
    photographs = middles[picked][:, None] + 2.5 * torch.randn(KNOWN, SHOWN + ASKED, NUMBERS)
    return photographs[:, :SHOWN], photographs[:, SHOWN:]


def scores(model, shown, asked):
    encoded = model(torch.cat([shown.reshape(-1, NUMBERS), asked.reshape(-1, NUMBERS)]))
    typical = encoded[: KNOWN * SHOWN].view(KNOWN, SHOWN, -1).mean(1)
    return -torch.cdist(encoded[KNOWN * SHOWN :], typical).square()


target = torch.arange(KNOWN).repeat_interleave(ASKED)
model = Metric()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(400):
    shown, asked = episode(torch.arange(40))
    loss = nn.functional.cross_entropy(scores(model, shown, asked), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        print(f"step {step} loss {loss.item():.4f}")
with torch.no_grad():
    right = [(scores(model, *episode(torch.arange(40, KINDS))).argmax(1) == target).float().mean() for _ in range(50)]
print(f"right on lichens never seen {torch.stack(right).mean().item():.3f}")
