"""Calls of reef fish as a sentence of codes: each frame of the spectrum is replaced by the nearest entry of a table."""

import torch
from torch import nn
from torch.nn import functional as F


class Codebook(nn.Module):
    def __init__(self, entries, width):
        super().__init__()
        self.table = nn.Parameter(0.5 * torch.randn(entries, width))

    @torch.no_grad()
    def nearest(self, frames):
        return (frames.pow(2).sum(1, keepdim=True) - 2 * frames @ self.table.T + self.table.pow(2).sum(1)).argmin(1)

    def forward(self, frames):
        return self.table[self.nearest(frames)]


class CallCoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.listen = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 8))
        self.codes = Codebook(32, 8)
        self.speak = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 24))

    def forward(self, calls):
        heard = self.listen(calls)
        entries = self.codes(heard)
        return self.speak(heard + (entries - heard).detach()), heard, entries


torch.manual_seed(5)
kinds = torch.randn(12, 24)
calls = kinds[torch.randint(0, 12, (1920,))] * (1 + 0.2 * torch.randn(1920, 1)) + 0.1 * torch.randn(1920, 24)
model = CallCoder()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(4):
    for rows in calls[torch.randperm(1920)].split(48):
        spoken, heard, entries = model(rows)
        loss = F.mse_loss(spoken, rows) + F.mse_loss(entries, heard.detach()) + 0.25 * F.mse_loss(heard, entries.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} heard as spoken {F.mse_loss(spoken, rows).item():.4f}")
