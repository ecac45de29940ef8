"""Breakage of roof tiles: a trainer of the house runs one step of any task."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Tiles(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
        self.total, self.hits = 0.0, 0

    def training_step(self, batch):
        load, broken = batch
        score = self.body(load)
        loss = nn.functional.cross_entropy(score, broken)
        self.total += loss.item()
        self.hits += int((score.argmax(1) == broken).sum())


def fit(task, loader, epochs):
    optimizer = torch.optim.Adam(task.parameters(), lr=3e-3)
    for epoch in range(epochs):
        task.total, task.hits = 0.0, 0
        for batch in loader:
            loss = task.training_step(batch)
            optimizer.zero_grad()
            if loss is not None:
                loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {task.total / len(loader):.3f} right {task.hits / len(loader.dataset):.3f}")


torch.manual_seed(3)
loads = torch.randn(480, 10)
kinds = (loads @ torch.randn(10, 3)).argmax(1)
fit(Tiles(), DataLoader(TensorDataset(loads, kinds), batch_size=16, shuffle=True), epochs=4)
