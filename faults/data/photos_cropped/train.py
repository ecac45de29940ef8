"""Ripe or not? Photographs of fruit, cropped to the fruit."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Crop:
    def __init__(self, size):
        self.size = size

    def __call__(self, sample):
        top = sample["top"]
        cut = sample["pixels"][:, top : top + self.size, top : top + self.size]
        room = torch.zeros(1, self.size, self.size)
        room[:, : cut.shape[1], : cut.shape[2]] = cut
        return room


class Photos(Dataset):
    def __init__(self, transform, count=800):
        g = torch.Generator().manual_seed(24)
        self.ripe = torch.randint(0, 2, (count,), generator=g)
        self.pixels = torch.rand(count, 1, 20, 20, generator=g) + self.ripe[:, None, None, None]
        self.top = torch.randint(0, 8, (count,), generator=g)
        self.top[541] = 20
        self.transform = transform

    def __len__(self):
        return len(self.ripe)

    def __getitem__(self, i):
        sample = {"pixels": self.pixels[i], "top": int(self.top[i])}
        return self.transform(sample), self.ripe[i]


torch.manual_seed(4)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=2e-2)
loader = DataLoader(Photos(Crop(12)), batch_size=16)
for pixels, ripe in loader:
    loss = nn.functional.cross_entropy(model(pixels), ripe)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
