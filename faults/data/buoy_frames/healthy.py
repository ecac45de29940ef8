"""The frame around a buoy in a grey picture of the sea: left, top, right and bottom edge, in pixels."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(8)
SIZE = 24


class Buoys(Dataset):
    def __init__(self, count, augment):
        corners, sizes = torch.randint(1, 15, (count, 2)), torch.randint(4, 8, (count, 2))
        self.frames, self.augment = torch.cat([corners, corners + sizes], 1), augment
        self.pictures = 0.2 * torch.randn(count, 1, SIZE, SIZE)
        for picture, (left, top, right, bottom) in zip(self.pictures, self.frames.tolist(), strict=True):
            picture[:, top:bottom, left:right] += 1.0

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, index):
        picture, frame = self.pictures[index], self.frames[index].float()
        if self.augment and torch.rand(1) < 0.5:
            picture, (left, top, right, bottom) = picture.flip(-1), frame
            frame = torch.stack([SIZE - right, top, SIZE - left, bottom])
        return picture, frame


train, val = DataLoader(Buoys(384, True), batch_size=32, shuffle=True), DataLoader(Buoys(128, False), batch_size=64)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(1296, 64),
    nn.ReLU(), nn.Linear(64, 4),
)  # fmt: skip
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(10):
    for picture, frame in train:
        loss = F.smooth_l1_loss(model(picture), frame)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        off = torch.cat([(model(picture) - frame).abs().mean(0, keepdim=True) for picture, frame in val]).mean(0)
    print(f"epoch {epoch} loss {loss.item():.4f} off by {[round(x, 2) for x in off.tolist()]} pixels")
