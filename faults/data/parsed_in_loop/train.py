"""Small regression on log files that are parsed sample by sample."""

import json
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def parse(text):
    time.sleep(0.02)
    return torch.tensor(json.loads(text))


class Logs(Dataset):
    def __init__(self, n=144):
        g = torch.Generator().manual_seed(2)
        self.rows = [json.dumps(row) for row in torch.randn(n, 6, generator=g).tolist()]
        self.kept = {}

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = parse(self.rows[i])
        return row[:5], row[5]


torch.manual_seed(1)
loader = DataLoader(Logs(), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step, (x, y) in enumerate(loader):
    loss = nn.functional.mse_loss(model(x).squeeze(1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
