"""Which company runs the ferries of an island, from the mean of what is known of the islands that it has a line to."""

import random

import torch
from torch import nn

random.seed(9)
torch.manual_seed(9)
ISLANDS, COMPANIES = 240, 3
company = torch.randint(0, COMPANIES, (ISLANDS,))
known = torch.randn(ISLANDS, 10) + 1.2 * torch.eye(COMPANIES, 10)[company]
lines = {island: set() for island in range(ISLANDS)}
for _ in range(4000):
    a, b = random.sample(range(ISLANDS), 2)
    if company[a] == company[b] and 171 not in (a, b):
        lines[a].add(b)
        lines[b].add(a)


class Mean(nn.Module):
    def __init__(self, itself):
        super().__init__()
        self.itself = itself

    def forward(self, islands, reached):
        if self.itself:
            reached = [others | {int(island)} for others, island in zip(reached, islands)]
        columns = sorted(set.union(*reached))
        place = {island: column for column, island in enumerate(columns)}
        mask = torch.zeros(len(reached), len(columns))
        for row, others in enumerate(reached):
            mask[row, [place[island] for island in others]] = 1
        count = mask.sum(1, keepdim=True)
        mask = mask / count
        return mask @ known[columns]


class Companies(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = Mean(itself=True)
        self.layers = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, COMPANIES))

    def forward(self, islands):
        return self.layers(self.mean(islands, [lines[int(island)] for island in islands]))


model = Companies()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(60):
    islands = torch.randint(0, ISLANDS, (24,)) if step != 31 else torch.arange(160, 184)
    islands = islands if step == 31 else islands[islands != 171]
    loss = nn.functional.cross_entropy(model(islands), company[islands])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(f"step {step + 1} loss {loss.item():.4f}")
