"""Defects of bricks, rare ones drawn as often as common ones."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(12)
labels = torch.multinomial(torch.tensor([0.5, 0.3, 0.1, 0.06, 0.04]), 700, replacement=True)
bricks = torch.randn(700, 16) + nn.functional.one_hot(labels, 5).float() @ torch.randn(5, 16)
per_class = 1.0 / torch.bincount(labels, minlength=5).float()
sampler = WeightedRandomSampler(per_class, num_samples=len(labels))
loader = DataLoader(TensorDataset(bricks, labels), batch_size=28, sampler=sampler)
model = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 5))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(8):
    for features, target in loader:
        loss = nn.functional.cross_entropy(model(features), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = (model(bricks).argmax(1) == labels).float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} accuracy {right.item():.3f}")
