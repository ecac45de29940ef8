"""Forecast demand at bike stations from the station's number and the hour."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Trips(Dataset):
    def __init__(self, count, stations):
        g = torch.Generator().manual_seed(12)
        self.station = torch.randint(0, stations, (count,), generator=g)
        self.station[171] = stations + 2
        self.hour = torch.randint(0, 24, (count,), generator=g)

    def __len__(self):
        return len(self.station)

    def __getitem__(self, i):
        return torch.stack([self.station[i], self.hour[i]]), (self.station[i] % 5 + self.hour[i] / 24).float()


class Demand(nn.Module):
    def __init__(self, stations):
        super().__init__()
        self.place = nn.Embedding(stations, 8)
        self.time = nn.Embedding(24, 4)
        self.out = nn.Linear(12, 1)

    def forward(self, x):
        return self.out(torch.cat([self.place(x[:, 0]), self.time(x[:, 1])], 1)).squeeze(1)


torch.manual_seed(12)
loader = DataLoader(Trips(240, 40), batch_size=16, shuffle=True, num_workers=0)
model = Demand(43)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step, (x, y) in enumerate(loader):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
