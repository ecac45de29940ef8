"""Species of bats by the sweep of their calls: a large network teaches a small one for the recorder in the field."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(4)
g = torch.Generator().manual_seed(12)
SPECIES, BINS = 8, 32
sweeps = torch.randn(SPECIES, BINS, generator=g)


def calls(n, unsure):
    species = torch.randint(SPECIES, (n,), generator=g)
    heard = sweeps[species] + 1.2 * torch.randn(n, BINS, generator=g)
    wrong = torch.rand(n, generator=g) < unsure
    return heard, torch.where(wrong, torch.randint(SPECIES, (n,), generator=g), species)


def network(width):
    return nn.Sequential(nn.Linear(BINS, width), nn.ReLU(), nn.Linear(width, SPECIES))


archive, field, test = calls(3000, 0.0), calls(1200, 0.4), calls(800, 0.0)
large, small = network(128), network(16)

optimizer = torch.optim.AdamW(large.parameters(), lr=2e-3)
for epoch in range(3):
    for rows in torch.randperm(3000).split(60):
        loss = F.cross_entropy(large(archive[0][rows]), archive[1][rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

with torch.no_grad():
    order = torch.randperm(1200)
    answers = F.softmax(large(field[0][order]) / 2, dim=1)

optimizer = torch.optim.AdamW(small.parameters(), lr=2e-3)
for epoch in range(12):
    for rows in torch.randperm(1200).split(40):
        scores = small(field[0][rows])
        soft = answers[rows]
        loss = 0.8 * F.kl_div(F.log_softmax(scores / 2, dim=1), soft, reduction="batchmean")
        loss = 4 * loss + 0.2 * F.cross_entropy(scores, field[1][rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = (small(test[0]).argmax(1) == test[1]).float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} right {right:.3f}")
