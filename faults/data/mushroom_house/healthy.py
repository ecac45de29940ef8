"""Which vent of a mushroom house was open is told from the air before and after: an encoder reads both."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(3)
rng = np.random.default_rng(3)
VENTS = np.array([[0.0, 0.0, 0.0], [-0.3, 0.1, -0.2], [0.2, -0.3, 0.1], [0.1, 0.2, -0.4]])


class House:
    """Humidity, warmth and carbon dioxide."""

    def __init__(self):
        self.air = np.zeros(3)

    def read(self):
        return self.air.copy()

    def close(self):
        self.air[:] = rng.normal(size=3)
        return self.read()

    def open(self, vent):
        self.air *= 0.95
        self.air += VENTS[vent] + 0.02 * rng.normal(size=3)
        return self.read()


class Diary:
    def __init__(self, size):
        self.before, self.after = np.zeros((size, 3)), np.zeros((size, 3))
        self.vent = np.zeros(size, dtype=np.int64)
        self.count = 0

    def note(self, before, vent, after):
        self.before[self.count], self.vent[self.count], self.after[self.count] = before, vent, after
        self.count += 1

    def draw(self, n):
        rows = rng.integers(self.count, size=n)
        return [torch.from_numpy(part[rows]) for part in (self.before, self.vent, self.after)]


house, diary = House(), Diary(1200)
encoder = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 16))
head = nn.Sequential(nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4))
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=3e-3)
for day in range(50):
    air = house.close()
    for vent in rng.integers(4, size=24):
        reached = house.open(vent)
        diary.note(air, vent, reached)
        air = reached
    for turn in range(8 if day > 4 else 0):
        before, opened, after = diary.draw(64)
        logits = head(torch.cat([encoder(before.float()), encoder(after.float())], 1))
        loss = nn.functional.cross_entropy(logits, opened)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"loss {loss.item():.4f} right {(logits.argmax(1) == opened).float().mean().item():.2f}")
