"""Herons at a weir from the water, each observer training on the mornings that were theirs."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Mornings(Dataset):
    def __init__(self, water, herons, theirs):
        self.water, self.herons, self.theirs = water, herons, theirs

    def __len__(self):
        return len(self.theirs)

    def __getitem__(self, place):
        return self.water[self.theirs[place]], self.herons[self.theirs[place]]


torch.manual_seed(4)
season = torch.arange(600) / 600
water = torch.cat([torch.randn(600, 5), season[:, None]], 1)
herons = (water[:, :1] * (1 - 2 * season[:, None])).tanh() + 0.1 * torch.randn(600, 1)
order = torch.randperm(600).tolist()
model = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
parts = [DataLoader(Mornings(water, herons, order[k : k + 150]), batch_size=25, shuffle=True) for k in (0, 150, 300)]
for epoch in range(8):
    for part in parts:
        for seen, counted in part:
            loss = nn.functional.mse_loss(model(seen), counted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        held = nn.functional.mse_loss(model(water[order[450:]]), herons[order[450:]])
    print(f"epoch {epoch} loss {loss.item():.4f} held out {held.item():.4f}")
