"""Twelve hours of the level at a weir from the forty-eight hours before."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(5)
hours = torch.arange(3000.0)
level = torch.sin(hours / 9) + 0.4 * torch.sin(hours / 31) + 0.02 * torch.randn(3000).cumsum(0) + 0.15 * torch.randn(3000)


class Levels(Dataset):
    def __init__(self, level, past=48, ahead=12):
        self.level, self.past, self.ahead = level, past, ahead

    def __len__(self):
        return len(self.level) - self.past - self.ahead

    def __getitem__(self, i):
        end = i + self.past
        return self.level[i:end], self.level[end - 6 : end - 6 + self.ahead]


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(48, 64), nn.ReLU(), nn.Linear(64, 12))

    def forward(self, past):
        last = past[:, -1:]
        return last + self.net(past - last)


model = Forecast()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loader = DataLoader(Levels(level[:2400]), batch_size=64, shuffle=True)
for epoch in range(5):
    for past, ahead in loader:
        loss = nn.functional.mse_loss(model(past), ahead)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
with torch.no_grad():
    rows = torch.arange(2400, 2900, 12)
    past, ahead = torch.stack([level[r - 48 : r] for r in rows]), torch.stack([level[r : r + 12] for r in rows])
    print(f"error of the twelve hours ahead {nn.functional.mse_loss(model(past), ahead).item():.4f}")
