"""Where the three joints of a crane are in a picture of the yard."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(6)
SIDE = 40


class Yard(Dataset):
    def __init__(self, count: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        down, across = np.mgrid[:SIDE, :SIDE]
        self.pictures = rng.uniform(0, 60, (count, SIDE, SIDE, 3)).astype(np.float32)
        self.joints = np.zeros((count, 6), np.float32)
        for n in range(count):
            foot = rng.uniform((8, 26), (32, 36))
            points = [foot, foot + rng.uniform((-4, -14), (4, -8)), foot + rng.uniform((4, -18), (7, -12))]
            for colour, (x, y) in enumerate(points):
                self.pictures[n, ..., colour] += 180 * np.exp(-((across - x) ** 2 + (down - y) ** 2) / 5)
            self.joints[n] = np.concatenate(points)

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        picture, joints = self.pictures[index], self.joints[index].copy()
        if torch.rand(()) < 0.5:
            picture = picture[:, ::-1]
            joints[0::2] = SIDE - 1 - joints[0::2]
        picture = picture * (0.7 + 0.6 * torch.rand(()).item())
        return torch.from_numpy(picture.transpose(2, 0, 1).copy()) / 255, torch.from_numpy(joints)


data = Yard(600, 1)
model = nn.Sequential(
    nn.Conv2d(3, 12, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(12, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(1600, 64), nn.ReLU(), nn.Linear(64, 6),
)  # fmt: skip
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(8):
    total = 0.0
    for pictures, joints in DataLoader(data, batch_size=30, shuffle=True):
        loss = nn.functional.mse_loss(model(pictures) * SIDE, joints)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 20:.3f}")
