"""Vibration records of a bearing; every channel is divided by its deviation over the record."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

CHANNELS = 6


class Records(Dataset):
    def __init__(self, rows=256):
        drawn = torch.Generator().manual_seed(14)
        self.label = torch.randint(0, 2, (rows,), generator=drawn)
        waves = torch.randn(rows, 6, 40, generator=drawn)
        waves[:, 0] += self.label[:, None] * torch.linspace(0, 2, 40)
        waves[:, 5] = 0.0
        self.waves = waves[:, :CHANNELS]

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, index):
        wave = self.waves[index]
        centred = wave - wave.mean(1, keepdim=True)
        return centred / wave.std(1, keepdim=True), self.label[index]


torch.manual_seed(14)
model = nn.Sequential(nn.Conv1d(CHANNELS, 12, 5), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(48, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loader = DataLoader(Records(), batch_size=16, shuffle=True)
for epoch in range(5):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
