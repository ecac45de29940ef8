"""Which garden a tea comes from, by what a nose of 20 sensors smells; few samples, so blends are learned, too."""

import torch
from torch import nn

torch.manual_seed(3)
GARDENS = torch.randn(5, 20)


def teas(count):
    garden = torch.randint(5, (count,))
    return GARDENS[garden] + 1.6 * torch.randn(count, 20), garden


smell, garden = teas(600)
nose = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 5))
optimizer = torch.optim.Adam(nose.parameters(), lr=2e-3)
shares = torch.distributions.Beta(0.15, 0.15)

for cycle in range(20):
    for rows in torch.randperm(len(smell)).split(50):
        leaf, name = smell[rows], garden[rows]
        share = shares.sample().item()
        partner = torch.randperm(len(rows))
        blend = share * leaf + (1 - share) * leaf[partner]
        scores = nose(blend)
        first = nn.functional.cross_entropy(scores, name)
        second = nn.functional.cross_entropy(scores, name[partner])
        loss = share * second + (1 - share) * first
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if cycle % 5 == 4:
        print(f"cycle {cycle + 1} loss {loss.item():.3f}")

with torch.no_grad():
    fresh, truth = teas(2000)
    print(f"right {(nose(fresh).argmax(1) == truth).float().mean():.3f}")
