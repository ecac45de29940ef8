"""The heat of a kiln an hour ahead, from windows of what its gauges have shown; the gauges are scaled by what the first
part of the log says."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset


def read_log(hours):
    rng = np.random.default_rng(4)
    heat = 900 + 60 * np.sin(np.arange(hours) / 9) + 4 * rng.standard_normal(hours)
    draught = 3 + 0.2 * rng.standard_normal(hours)
    damper = np.ones(hours)
    return np.stack([heat, draught, damper], axis=1).astype(np.float32)


class Scaler:
    def __init__(self, table):
        self.mean = table.mean(axis=0)
        self.std = table.std(axis=0)

    def __call__(self, table):
        return (table - self.mean) / self.std


class Windows(Dataset):
    def __init__(self, table, past):
        self.table = torch.from_numpy(table)
        self.past = past

    def __len__(self):
        return len(self.table) - self.past

    def __getitem__(self, hour):
        return self.table[hour : hour + self.past], self.table[hour + self.past, 0]


torch.manual_seed(4)
log = read_log(700)
log = Scaler(log[:500])(log)
loader = DataLoader(Subset(Windows(log, 12), range(480)), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(36, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for shift in range(4):
    for window, heat in loader:
        loss = nn.functional.mse_loss(model(window), heat)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"shift {shift} loss {loss.item():.4f}")
