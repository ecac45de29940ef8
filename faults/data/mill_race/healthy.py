"""How much a mill grinds in an hour, from the gauges along its race."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

GAUGES = ["depth_cm", "speed_m_s", "gate_cm", "stones_rpm"]


def logbook(hours, seed):
    draw = np.random.default_rng(seed)
    depth = 60 + 15 * draw.standard_normal(hours)
    speed = 1.4 + 0.3 * draw.standard_normal(hours)
    gate = draw.uniform(5, 30, hours)
    turns = 55 + 4 * np.tanh((depth - 60) / 15) + draw.standard_normal(hours)
    flour = 2 + 0.6 * np.sin(gate / 4) + 4 * (speed - 1.4) + 0.1 * draw.standard_normal(hours)
    table = np.stack([depth, speed, gate, turns], 1)
    table[draw.random(hours) < 0.03, 1] = 9999
    gaps = table == 9999
    return np.where(gaps, np.nanmedian(np.where(gaps, np.nan, table), axis=0), table), flour


class Hours(Dataset):
    def __init__(self, table, flour, centre, spread):
        self.gauges = ((table - centre) / spread).astype(np.float32)
        self.flour = flour.astype(np.float32)

    def __len__(self):
        return len(self.flour)

    def __getitem__(self, hour):
        return self.gauges[hour], self.flour[hour]


torch.manual_seed(0)
table, flour = logbook(2400, 1)
centre, spread = table.mean(0), table.std(0)
later, later_flour = logbook(600, 2)
tests = Hours(later, later_flour, centre, spread)
model = nn.Sequential(nn.Linear(len(GAUGES), 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for gauges, ground in DataLoader(Hours(table, flour, centre, spread), batch_size=60, shuffle=True):
        loss = nn.functional.mse_loss(model(gauges).squeeze(1), ground)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        error = (model(torch.from_numpy(tests.gauges)).squeeze(1) - torch.from_numpy(tests.flour)).square().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} later {error.item():.4f}")
