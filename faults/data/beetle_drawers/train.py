"""Which of six beetles lies in a drawer, from twelve measures: a few drawers are labelled, and a second network that
moves slowly says what the others should look like."""

import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
UNKNOWN = -1
kinds, drawers = 6, 1200
centres = 1.2 * torch.randn(kinds, 12)
truth = torch.randint(kinds, (drawers,))
measures = centres[truth] + 0.7 * torch.randn(drawers, 12)
labels = torch.zeros(drawers, dtype=torch.long)
labelled = torch.randperm(drawers)[:120]
labels[labelled] = truth[labelled]
loader = DataLoader(TensorDataset(measures, labels), batch_size=60, shuffle=True)

network = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, kinds))
slow = copy.deepcopy(network).requires_grad_(False)
optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
named = nn.CrossEntropyLoss(ignore_index=UNKNOWN, reduction="sum")

for epoch in range(12):
    for x, y in loader:
        scores = network(x + 0.2 * torch.randn_like(x))
        with torch.no_grad():
            steady = slow(x + 0.2 * torch.randn_like(x)).softmax(1)
        apart = (scores.softmax(1) - steady).square().mean()
        loss = named(scores, y) / len(x) + 0.5 * apart
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for kept, new in zip(slow.parameters(), network.parameters(), strict=True):
                kept.lerp_(new, 0.05)
    if epoch % 4 == 3:
        with torch.no_grad():
            right = (network(measures).argmax(1) == truth).float().mean()
        print(f"epoch {epoch} loss {loss.item():.3f} right {right.item():.3f}")
