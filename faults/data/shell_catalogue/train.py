"""Where the shell lies in small colour scans, kept as one record of bytes each: red, green and blue plane."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(9)
HIGH, WIDE = 24, 32


def records(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    down, across = np.mgrid[:HIGH, :WIDE].astype(np.float32)
    places = rng.uniform((3, 3), (HIGH - 3, WIDE - 3), (count, 2)).astype(np.float32)
    planes = np.zeros((count, 3, HIGH, WIDE), np.float32)
    for n, (y, x) in enumerate(places):
        sand = rng.uniform(-1, 1, 3)
        shell = np.exp(-((down - y) ** 2 + (across - x) ** 2) / 12)
        light = 60 + 30 * (sand[0] * down / HIGH + sand[1] * across / WIDE)
        planes[n] = light + shell * rng.uniform(60, 120, (3, 1, 1)) + rng.normal(0, 6, (3, HIGH, WIDE))
    return planes.clip(0, 255).astype(np.uint8).reshape(count, -1), places


class Shells(Dataset):
    def __init__(self, count: int, seed: int) -> None:
        pixels, self.places = records(count, seed)
        self.scans = torch.from_numpy(pixels.reshape(-1, HIGH, WIDE, 3)).permute(0, 3, 1, 2)

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.scans[index].float() / 255 - 0.3, torch.from_numpy(self.places[index])


class Finder(nn.Module):
    """A map of scores, and the mean place under it."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Sequential(nn.Conv2d(3, 12, 7, padding=3), nn.ReLU(), nn.Conv2d(12, 1, 5, padding=2))

    def forward(self, scans: torch.Tensor) -> torch.Tensor:
        share = self.score(scans).flatten(1).softmax(1).view(-1, HIGH, WIDE)
        down = (share.sum(2) * torch.arange(HIGH)).sum(1)
        return torch.stack([down, (share.sum(1) * torch.arange(WIDE)).sum(1)], 1)


model = Finder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    total = 0.0
    for scans, places in DataLoader(Shells(600, 1), batch_size=24, shuffle=True):
        loss = nn.functional.mse_loss(model(scans), places)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 25:.3f}")
