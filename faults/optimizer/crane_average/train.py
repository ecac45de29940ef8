"""Sway of a crane's load from its speeds; the averaged network is what is evaluated."""

import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)


class Average:
    def __init__(self, model, decay):
        self.decay = decay
        self.copy = copy.deepcopy(model).requires_grad_(False)

    def update(self, model):
        with torch.no_grad():
            for slow, fast in zip(self.copy.parameters(), model.parameters()):
                slow.mul_(self.decay).add_(fast, alpha=1 - self.decay)


speeds = torch.randn(960, 10)
sway = (speeds[:, 0] * speeds[:, 1] + speeds[:, 2]).unsqueeze(1)
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1))
average = Average(model, 0.95)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(8):
    for x, y in DataLoader(TensorDataset(speeds[:800], sway[:800]), batch_size=40, shuffle=True):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(average.copy)
    with torch.no_grad():
        print(f"epoch {epoch} of the average {nn.functional.mse_loss(average.copy(speeds[800:]), sway[800:]):.4f}")
