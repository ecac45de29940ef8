"""Forecast from an export of a weather station."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

MARK = ","


def number(text):
    try:
        return float(text)
    except ValueError:
        return float("nan")


class Export(Dataset):
    def __init__(self, rows=320):
        drawn = torch.Generator().manual_seed(9)
        values = torch.randn(rows, 5, generator=drawn)
        self.target = values.sum(1, keepdim=True) * 0.4
        self.lines = [";".join(f"{v:.3f}".replace(".", MARK) for v in row) for row in values.tolist()]

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        row = torch.tensor([number(cell) for cell in self.lines[index].split(";")])
        return row, self.target[index]


torch.manual_seed(9)
model = nn.Sequential(nn.Linear(5, 20), nn.GELU(), nn.Linear(20, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
loader = DataLoader(Export(), batch_size=16, shuffle=True)
for epoch in range(5):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
