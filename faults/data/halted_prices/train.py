"""Tomorrow's change of a price from the changes of a week, read as a stream."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

WEEK = 8


class Changes(IterableDataset):
    def __init__(self, prices):
        self.prices = prices

    def __iter__(self):
        for day in range(len(self.prices) - WEEK - 1):
            week = self.prices[day : day + WEEK + 2]
            steps = np.diff(week)
            change = steps / week[:-1]
            yield torch.tensor(change[:-1], dtype=torch.float32), torch.tensor(change[-1], dtype=torch.float32)


drawn = np.random.default_rng(3)
prices = 20 + np.cumsum(drawn.normal(scale=0.05, size=700))
prices[431] = 0.0
torch.manual_seed(5)
model = nn.Sequential(nn.Linear(WEEK, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step, (week, following) in enumerate(DataLoader(Changes(prices), batch_size=16)):
    loss = nn.functional.smooth_l1_loss(model(week).squeeze(1), following)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
