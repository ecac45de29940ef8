"""How a tug comes to its berth: what each push is worth is learned from a store of what was seen before and after."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(9)
draw = np.random.default_rng(9)
PUSHES = np.array([[0.0, 0.0], [0.3, 0.0], [-0.3, 0.0], [0.0, 0.3], [0.0, -0.3]])


class Tug:
    """Place and speed of a tug; the berth is at the origin."""

    def __init__(self):
        self.motion = np.zeros(4)

    def cast_off(self):
        self.motion = np.concatenate([draw.uniform(-1, 1, 2), np.zeros(2)])
        return self.motion.copy()

    def push(self, choice):
        self.motion[2:] += 0.5 * PUSHES[choice] - 0.2 * self.motion[2:]
        self.motion[:2] += 0.5 * self.motion[2:]
        return self.motion, -np.abs(self.motion[:2]).sum()


class Store:
    """Rows of what was seen, done and earned."""

    def __init__(self, room):
        self.before, self.after = np.zeros((room, 4)), np.zeros((room, 4))
        self.choice, self.earned = np.zeros((room, 1)), np.zeros((room, 1))
        self.count = 0

    def keep(self, before, choice, earned, after):
        self.before[self.count] = before
        self.choice[self.count] = choice
        self.earned[self.count] = earned
        self.after[self.count] = after
        self.count += 1

    def some(self, n):
        rows = draw.integers(self.count, size=n)
        tables = (self.before, self.choice, self.earned, self.after)
        return [torch.tensor(table[rows], dtype=torch.float32) for table in tables]


tug, store = Tug(), Store(2000)
worth = nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 5))
optimizer = torch.optim.Adam(worth.parameters(), lr=2e-3)
for trip in range(60):
    seen = tug.cast_off()
    for push in range(25):
        choice = int(draw.integers(5))
        reached, earned = tug.push(choice)
        store.keep(seen, choice, earned, reached)
        seen = reached
        if trip > 1 and push % 5 == 0:
            before, chosen, gain, after = store.some(64)
            with torch.no_grad():
                goal = gain + 0.9 * worth(after).max(1, keepdim=True).values
            loss = nn.functional.mse_loss(worth(before).gather(1, chosen.long()), goal)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

total = 0.0
for trip in range(20):
    seen = tug.cast_off()
    for push in range(25):
        with torch.no_grad():
            choice = int(worth(torch.tensor(seen, dtype=torch.float32)).argmax())
        seen, earned = tug.push(choice)
        total += earned / 20
print(f"loss {loss.item():.4f} earned in a trip {total:.2f}")
