"""Marks the open water of bogs on aerial photographs, from outlines that were drawn as lists of points."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE = 32


class Bogs(Dataset):
    def __init__(self, count):
        draw = np.random.default_rng(8)
        self.photos, self.pools = [], []
        for _ in range(count):
            east, north = np.meshgrid(np.arange(SIDE), np.arange(SIDE))
            water = np.zeros((SIDE, SIDE), dtype=bool)
            for x, y, radius in zip(draw.uniform(0, SIDE, 3), draw.uniform(0, SIDE, 3), draw.uniform(3, 7, 3)):
                water |= (east - x) ** 2 + (north - y) ** 2 < radius**2
            light = draw.normal(0.4, 0.15, (SIDE, SIDE, 3)) - 0.3 * water[..., None]
            self.photos.append(light.astype("float32"))
            self.pools.append(np.argwhere(water))

    def __len__(self):
        return len(self.photos)

    def __getitem__(self, index):
        photo = torch.from_numpy(self.photos[index]).permute(2, 0, 1)
        mask = torch.zeros(SIDE, SIDE)
        rows, columns = self.pools[index].T
        mask[columns, rows] = 1
        return photo, mask


def main():
    torch.manual_seed(6)
    model = nn.Sequential(
        nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 1, 1)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(4):
        total = 0.0
        for photos, masks in DataLoader(Bogs(256), batch_size=16, shuffle=True):
            loss = nn.functional.binary_cross_entropy_with_logits(model(photos).squeeze(1), masks)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() / 16
        print(f"epoch {epoch} loss {total:.4f}")


main()
