"""Outlines of lakes in tiles from the air: a small network says of each pixel whether it is water."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(4)
SIZE = 32
rows, columns = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")


def tile():
    water = torch.zeros(SIZE, SIZE, dtype=torch.bool)
    for _ in range(int(torch.randint(1, 4, (1,)))):
        (y, x), (high, wide) = 4 + 24 * torch.rand(2), 2.5 + 4 * torch.rand(2)
        water |= ((rows - y) / high) ** 2 + ((columns - x) / wide) ** 2 < 1
    light = torch.stack([0.3 + 0.3 * water, 0.6 - 0.3 * water]) + 0.2 * torch.randn(2, SIZE, SIZE)
    return light, water.long()


class Tiles(Dataset):
    def __init__(self, count, augment):
        self.tiles, self.augment = [tile() for _ in range(count)], augment

    def __len__(self):
        return len(self.tiles)

    def __getitem__(self, index):
        light, water = self.tiles[index]
        if self.augment and torch.rand(1) < 0.5:
            light = torch.flip(light, (2,))
        return {"light": light, "water": water}


class Outline(nn.Module):
    def __init__(self):
        super().__init__()
        self.near = nn.Conv2d(2, 12, 3, padding=1)
        self.wide = nn.Conv2d(12, 16, 3, padding=1)
        self.both = nn.Conv2d(28, 2, 3, padding=1)

    def forward(self, light):
        near = F.relu(self.near(light))
        wide = F.relu(self.wide(F.max_pool2d(near, 2)))
        return self.both(torch.cat([near, F.interpolate(wide, scale_factor=2)], 1))


train, val = DataLoader(Tiles(160, True), batch_size=16, shuffle=True), DataLoader(Tiles(48, False), batch_size=32)
model = Outline()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    model.train()
    for batch in train:
        loss = F.cross_entropy(model(batch["light"]), batch["water"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        pairs = [(model(batch["light"]).argmax(1), batch["water"]) for batch in val]
    both = sum(int((said & water).sum()) for said, water in pairs)
    either = sum(int((said | water).sum()) for said, water in pairs)
    print(f"epoch {epoch} loss {loss.item():.4f} overlap {both / either:.3f}")
