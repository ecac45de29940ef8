"""How a moored buoy drifts under its thrusters: its motion is learned from what it did, to plan the next hours."""

import random

import torch
from torch import nn

torch.manual_seed(5)
random.seed(5)
THRUSTS = torch.tensor([[0.0, 0.0], [0.2, 0.0], [-0.2, 0.0], [0.0, 0.2], [0.0, -0.2]])


class Buoy:
    """Position and speed, pulled back by its chain and pushed by the stream."""

    def __init__(self):
        self.motion = torch.zeros(4)

    def moor(self):
        self.motion = torch.cat([torch.rand(2) * 2 - 1, torch.zeros(2)])
        return self.motion.clone()

    def drift(self, thrust):
        self.motion[2:] += THRUSTS[thrust] - 0.1 * self.motion[:2] + 0.02 * torch.randn(2)
        self.motion[:2] += 0.5 * self.motion[2:]
        return self.motion.clone()


class Logbook:
    """What was seen before and after each hour."""

    def __init__(self):
        self.hours = []

    def write(self, before, thrust, after):
        self.hours.append((before, thrust, after))

    def read(self, n):
        before, thrust, after = zip(*random.sample(self.hours, n))
        return torch.stack(before), THRUSTS[list(thrust)], torch.stack(after)


buoy, logbook = Buoy(), Logbook()
model = nn.Sequential(nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for day in range(40):
    seen = buoy.moor()
    for hour in range(24):
        thrust = random.randrange(5)
        reached = buoy.drift(thrust)
        logbook.write(seen, thrust, reached)
        seen = reached
    for turn in range(10 if day > 2 else 0):
        before, thrust, after = logbook.read(48)
        loss = nn.functional.mse_loss(before + model(torch.cat([before, thrust], 1)), after)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

other, misses = Buoy(), []
seen = other.moor().clone()
for hour in range(200):
    guess = seen + model(torch.cat([seen, THRUSTS[hour % 5]])).detach()
    reached = other.drift(hour % 5).clone()
    misses.append((guess - reached).abs().mean())
    seen = reached
print(f"loss {loss.item():.5f} miss in the next hour {torch.stack(misses).mean():.4f}")
