"""How many boats lie at a mooring, by their red hulls, from a camera that writes blue first."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(6)
draw = np.random.default_rng(6)


def camera(count):
    boats = draw.integers(0, 4, count)
    frames = draw.normal((0.55, 0.4, 0.2), 0.06, (count, 16, 16, 3))
    frames += draw.normal(0, 0.05, (count, 1, 1, 1))
    for frame, number in zip(frames, boats):
        for place in draw.choice(16, number, replace=False):
            row, column = divmod(int(place), 4)
            frame[4 * row : 4 * row + 3, 4 * column : 4 * column + 3] = (0.1, 0.1, 0.75)
    return frames.astype(np.float32), boats


class Moorings(Dataset):
    def __init__(self, count):
        self.frames, self.boats = camera(count)

    def __len__(self):
        return len(self.boats)

    def picture(self, place):
        return torch.from_numpy(self.frames[place][..., ::-1].copy()).permute(2, 0, 1)

    def __getitem__(self, place):
        return self.picture(place), int(self.boats[place])


class TestMoorings(Moorings):
    def __getitem__(self, place):
        return torch.from_numpy(self.frames[place]).permute(2, 0, 1), int(self.boats[place])


taught = DataLoader(Moorings(640), batch_size=32, shuffle=True)
tested = DataLoader(TestMoorings(160), batch_size=40)
model = nn.Sequential(
    nn.Conv2d(3, 12, 4, stride=4), nn.ReLU(), nn.Conv2d(12, 12, 1), nn.ReLU(), nn.Flatten(), nn.Linear(192, 4)
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    model.train()
    for pictures, boats in taught:
        loss = nn.functional.cross_entropy(model(pictures), boats)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = [(model(pictures).argmax(1) == boats).float().mean() for pictures, boats in tested]
    print(f"epoch {epoch} loss {loss.item():.4f} right {torch.stack(right).mean():.3f}")
