"""Where moss grows on photographs of old walls: a small network marks each pixel; numpy holds the pictures."""

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIZE = 28
down, across = np.mgrid[0:SIZE, 0:SIZE]


def photograph(draw):
    moss = np.zeros((SIZE, SIZE), np.int64)
    for _ in range(draw.randint(1, 4)):
        y, x, high, wide = (*draw.uniform(4, SIZE - 4, 2), *draw.uniform(2, 6, 2))
        moss[((down - y) / high) ** 2 + ((across - x) / wide) ** 2 < 1] = 1
    stone = 0.4 + 0.15 * draw.randn(3, SIZE, SIZE)
    stone[1] += 0.3 * moss
    return stone.astype(np.float32), moss


class Walls(Dataset):
    def __init__(self, count, seed, turned):
        draw = np.random.RandomState(seed)
        self.photographs, self.turned = [photograph(draw) for _ in range(count)], turned

    def __len__(self):
        return len(self.photographs)

    def __getitem__(self, index):
        stone, moss = self.photographs[index]
        if self.turned and random.random() < 0.5:
            stone, moss = stone[:, :, ::-1], moss[:, ::-1]
        if self.turned and random.random() < 0.5:
            stone = stone[:, ::-1]
        return torch.from_numpy(stone.copy()), torch.from_numpy(moss.copy())


random.seed(3)
torch.manual_seed(3)
train, check = DataLoader(Walls(160, 1, True), 16, shuffle=True), DataLoader(Walls(48, 2, False), 48)
model = nn.Sequential(
    nn.Conv2d(3, 12, 5, padding=2), nn.ReLU(), nn.Conv2d(12, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 2, 1)
)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    for stone, moss in train:
        loss = F.cross_entropy(model(stone), moss)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = sum((model(stone).argmax(1) == moss).float().mean().item() for stone, moss in check)
    print(f"epoch {epoch} loss {loss.item():.4f} right {right:.3f}")
