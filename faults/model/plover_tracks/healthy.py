"""Tracks of plovers on wet sand, photographed from above: which way the bird went."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE, WAYS = 16, 4
torch.manual_seed(41)


def track(way, seed):
    """A line of prints across the sand, on ground that is bright or dark as the light was."""
    draw = torch.Generator().manual_seed(seed)
    photo = 0.3 * torch.randn(SIDE, SIDE, generator=draw)
    begin = int(torch.randint(3, SIDE - 3, (), generator=draw))
    steps = torch.arange(SIDE)
    rows, columns = {0: (steps, begin), 1: (begin, steps), 2: (steps, steps), 3: (steps, SIDE - 1 - steps)}[way]
    photo[rows, columns] += 0.8
    light = 1 + 200 * torch.rand((), generator=draw)
    return light * photo + 150 * torch.randn((), generator=draw)


class Tracks(Dataset):
    """Photographs, each brought to the same light before it is given."""

    def __init__(self, count, seed):
        self.ways = [i % WAYS for i in range(count)]
        self.photos = [track(way, seed + i) for i, way in enumerate(self.ways)]

    def __len__(self):
        return len(self.photos)

    def __getitem__(self, index):
        photo = self.photos[index]
        evened = (photo - photo.mean()) / photo.std()
        return evened.unsqueeze(0), self.ways[index]


loader = DataLoader(Tracks(960, 0), batch_size=32, shuffle=True)
later = DataLoader(Tracks(400, 5000), batch_size=200)
reader = nn.Sequential(
    nn.Conv2d(1, 12, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(12, 16, 3), nn.ReLU(),
    nn.AdaptiveMaxPool2d(2), nn.Flatten(), nn.Linear(64, WAYS),
)  # fmt: skip
optimizer = torch.optim.Adam(reader.parameters(), lr=2e-3)
for epoch in range(4):
    for photos, ways in loader:
        loss = nn.functional.cross_entropy(reader(photos), ways)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = [(reader(photos).argmax(1) == ways).float().mean() for photos, ways in later]
    print(f"epoch {epoch} loss {loss.item():.4f} right {torch.stack(right).mean():.3f}")
