"""How dense kelp grows at each place of a survey square, from three bands of a drone camera."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(12)
SIZE = 28
across, down = torch.meshgrid(torch.linspace(-1, 1, SIZE), torch.linspace(-1, 1, SIZE), indexing="ij")


class QuarterTurns:
    def __call__(self, *squares):
        return [torch.rot90(square, int(torch.randint(0, 4, (1,))), (-2, -1)) for square in squares]


def survey():
    density = torch.zeros(SIZE, SIZE)
    for _ in range(int(torch.randint(2, 5, (1,)))):
        (x, y), width = 1.4 * torch.rand(2) - 0.7, 0.05 + 0.1 * torch.rand(1)
        density += torch.exp(-((across - x) ** 2 + (down - y) ** 2) / width)
    bands = torch.stack([0.4 - 0.2 * density, 0.3 + 0.3 * density, 0.5 - 0.1 * density])
    return bands + 0.1 * torch.randn(3, SIZE, SIZE), density


class Squares(Dataset):
    def __init__(self, count, transform=None):
        self.squares, self.transform = [survey() for _ in range(count)], transform

    def __len__(self):
        return len(self.squares)

    def __getitem__(self, index):
        bands, density = self.squares[index]
        if self.transform is not None:
            bands, density = self.transform(bands, density)
        return bands, density


model = nn.Sequential(
    nn.Conv2d(3, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 1, 1)
)
train = DataLoader(Squares(192, QuarterTurns()), batch_size=16, shuffle=True)
val = DataLoader(Squares(64), batch_size=32)
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(8):
    for bands, density in train:
        loss = F.mse_loss(model(bands).squeeze(1), density)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        off = sum(F.l1_loss(model(bands).squeeze(1), density).item() for bands, density in val) / len(val)
    print(f"epoch {epoch} loss {loss.item():.4f} off by {off:.4f}")
