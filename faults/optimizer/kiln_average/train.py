"""Hardness of bricks from firing temperatures; an average of the weights is what goes to the kiln."""

import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)


class Average:
    def __init__(self, model, keep):
        self.copy = copy.deepcopy(model).eval()
        self.keep = keep
        self.pairs = zip(model.parameters(), self.copy.parameters())

    @torch.no_grad()
    def follow(self):
        for weight, kept in self.pairs:
            kept.mul_(self.keep).add_(weight, alpha=1 - self.keep)


firing = torch.rand(640, 6)
hardness = (firing @ torch.randn(6, 1)).squeeze(1) + 0.05 * torch.randn(640)
train = DataLoader(TensorDataset(firing[:512], hardness[:512]), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
average = Average(model, 0.9)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    for x, y in train:
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.follow()
    with torch.no_grad():
        error = nn.functional.mse_loss(average.copy(firing[512:]).squeeze(1), hardness[512:])
    print(f"epoch {epoch} loss {loss.item():.4f} of the average {error.item():.4f}")
