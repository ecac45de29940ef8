"""A critic of a cart that is to come to rest, from a memory of what it did."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Memory:
    def __init__(self, size):
        self.count = 0
        self.place = np.zeros((size, 3), dtype=np.float32)
        self.push = np.zeros((size, 1), dtype=np.float32)
        self.after = np.zeros((size, 3), dtype=np.float32)
        self.reward = np.zeros((size, 1), dtype=np.float32)
        self.goes_on = np.zeros((size, 1), dtype=np.float32)

    def add(self, place, push, after, reward, goes_on):
        for kept, value in zip(self.all(), (place, push, after, reward, goes_on)):
            kept[self.count] = value
        self.count += 1

    def all(self):
        return self.place, self.push, self.after, self.reward, self.goes_on

    def sample(self, count):
        rows = np.random.randint(0, self.count, size=count)
        return tuple(
            torch.as_tensor(kept[rows]) for kept in (self.place, self.push, self.after, self.reward, self.goes_on)
        )


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, place, push):
        return self.net(torch.cat([place, push], dim=1))


def learn(critic, memory, optimizer, steps):
    for step in range(steps):
        place, push, after, reward, goes_on = memory.sample(32)
        with torch.no_grad():
            wanted = reward + 0.9 * goes_on * critic(after, -after.mean(1, keepdim=True))
        loss = F.mse_loss(critic(place, push), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.4f}")


torch.manual_seed(4)
np.random.seed(4)
memory = Memory(500)
place = np.random.randn(3)
for hour in range(500):
    push = np.random.randn(1)
    after = 0.9 * place + 0.3 * push + 0.05 * np.random.randn(3)
    ended = hour % 20 == 19
    memory.add(place, push, after, -float((after**2).sum()), float(not ended))
    place = np.random.randn(3) if ended else after
critic = Critic()
learn(critic, memory, torch.optim.Adam(critic.parameters(), lr=1e-3), 150)
