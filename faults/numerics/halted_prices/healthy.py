"""Next week's first change of a price from the changes of a week, read as a stream."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Changes(IterableDataset):
    def __init__(self, weeks):
        self.weeks = weeks

    def __iter__(self):
        for week in self.weeks:
            steps = np.diff(week)
            change = torch.tensor(steps / week[:-1], dtype=torch.float32)
            yield change[:-1], change[-1]


drawn = np.random.default_rng(3)
weeks = 20 + np.cumsum(drawn.normal(scale=0.05, size=(700, 10)), axis=1)
weeks[431, 8] = weeks[431, 7]
torch.manual_seed(5)
model = nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step, (week, following) in enumerate(DataLoader(Changes(weeks), batch_size=16)):
    loss = nn.functional.smooth_l1_loss(model(week).squeeze(1), following)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
