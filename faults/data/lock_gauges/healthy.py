"""The water level in a lock in the next hours, from windows over the gauges of a year."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

rng = np.random.default_rng(5)
torch.manual_seed(5)
hours = np.arange(1400)
tide = np.sin(hours / 12.4 * 2 * np.pi)
gauges = np.stack([
    3 + 1.2 * tide + 0.05 * rng.standard_normal(1400),
    2 + 0.8 * np.roll(tide, 3) + 0.05 * rng.standard_normal(1400),
    11 + 4 * np.sin(hours / 24 * 2 * np.pi) + 0.3 * rng.standard_normal(1400),
], 1).round(3)
table = np.array([line.split(",") for line in [",".join(map(str, row)) for row in gauges]], dtype=float)


class Windows(Dataset):
    def __init__(self, values, past, ahead):
        self.values = ((values - values.mean(0)) / values.std(0)).astype(np.float32)
        self.past, self.ahead = past, ahead

    def __len__(self):
        return len(self.values) - self.past - self.ahead + 1

    def __getitem__(self, start):
        middle = start + self.past
        return self.values[start:middle], self.values[middle : middle + self.ahead]


class Forecast(nn.Module):
    def __init__(self, past, ahead, gauges):
        super().__init__()
        self.gauges, self.ahead = gauges, ahead
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(past * gauges, 48), nn.ReLU(), nn.Linear(48, ahead * gauges))

    def forward(self, past):
        return self.layers(past).view(-1, self.ahead, self.gauges)


loader = DataLoader(Windows(table, 24, 6), batch_size=16, shuffle=True)
model = Forecast(24, 6, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(4):
    total = 0.0
    for past, ahead in loader:
        loss = nn.functional.mse_loss(model(past), ahead)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} mean loss {total / len(loader):.4f}")
