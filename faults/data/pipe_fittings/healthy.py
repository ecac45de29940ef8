"""Tells loops of pipes from trees and stars by how their fittings are joined."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

torch.manual_seed(3)


def network(kind, size):
    at = torch.arange(size)
    if kind == 0:
        pairs = torch.stack([at, (at + 1) % size])
    elif kind == 1:
        pairs = torch.stack([at[1:], (at[1:] - 1) // 2])
    else:
        pairs = torch.stack([at[1:], torch.zeros(size - 1, dtype=torch.long)])
    names = torch.randperm(size)[pairs]
    return torch.randn(size, 3), torch.cat([names, names.flip(0)], 1), kind


def drawn(count):
    return [network(int(torch.randint(3, ())), int(torch.randint(6, 13, ()))) for _ in range(count)]


def joined(networks):
    fittings, pipes, plan = [], [], []
    for number, (x, pairs, _) in enumerate(networks):
        fittings.append(x)
        pipes.append(pairs + sum(map(len, fittings[:-1])))
        plan.append(torch.full((len(x),), number))
    return torch.cat(fittings), torch.cat(pipes, 1), torch.cat(plan), torch.tensor([kind for *_, kind in networks])


class Inspector(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(4, 32), nn.Linear(32, 32), nn.Linear(32, 3)

    def forward(self, x, pairs, plan):
        joints = torch.zeros(len(x), 1).index_add(0, pairs[0], torch.ones(pairs.shape[1], 1))
        x = self.first(torch.cat([x, joints], 1)).relu()
        x = x + self.second(torch.zeros_like(x).index_add(0, pairs[1], x[pairs[0]])).relu()
        return self.last(torch.zeros(int(plan[-1]) + 1, 32).index_add(0, plan, x))


inspector = Inspector()
optimizer = torch.optim.Adam(inspector.parameters(), lr=3e-3)
loader = DataLoader(drawn(960), batch_size=24, shuffle=True, collate_fn=joined)
for epoch in range(6):
    right = 0
    for fittings, pipes, plan, kinds in loader:
        scores = inspector(fittings, pipes, plan)
        loss = F.cross_entropy(scores, kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += (scores.argmax(1) == kinds).sum().item()
    print(f"epoch {epoch} loss {loss.item():.4f} accuracy {right / 960:.3f}")
