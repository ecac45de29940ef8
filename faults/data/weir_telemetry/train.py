"""Forecast the flow at eight weirs from the last two days: the readings come as a table, and are divided by the largest
flow before windows are cut from them."""

import csv
import io

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

HOURS, WEIRS, PAST, AHEAD = 900, 8, 24, 4


def written_readings():
    rng = np.random.default_rng(17)
    hour = np.arange(HOURS)[:, None]
    flow = 40 + 12 * np.sin(hour / 24 * 2 * np.pi + np.arange(WEIRS)) + 3 * rng.standard_normal((HOURS, WEIRS))
    flow = flow.round(2)
    flow[411, 5] = 32767
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["hour", *(f"weir_{n}" for n in range(WEIRS))])
    writer.writerows([n, *row] for n, row in enumerate(flow.tolist()))
    return file.getvalue()


def read_readings(text):
    rows = list(csv.reader(io.StringIO(text)))[1:]
    return np.array([row[1:] for row in rows], dtype=np.float32)


class Windows(Dataset):
    def __init__(self, flow):
        self.flow = flow / flow.max()

    def __len__(self):
        return len(self.flow) - PAST - AHEAD + 1

    def __getitem__(self, start):
        return self.flow[start : start + PAST], self.flow[start + PAST : start + PAST + AHEAD]


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.GRU(WEIRS, 32, batch_first=True)
        self.tell = nn.Linear(32, AHEAD * WEIRS)

    def forward(self, past):
        return self.tell(self.read(past)[0][:, -1]).view(-1, AHEAD, WEIRS)


torch.manual_seed(17)
loader = DataLoader(Windows(read_readings(written_readings())), batch_size=32, shuffle=True)
model = Forecast()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(5):
    total = 0.0
    for past, ahead in loader:
        loss = nn.functional.mse_loss(model(past), ahead)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} mean loss {total / len(loader):.6f}")
