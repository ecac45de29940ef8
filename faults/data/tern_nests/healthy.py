"""Finds the one nest in a thermal picture of a sandbank, as a box in pixels."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

HIGH, WIDE = 32, 24


class Sandbank(Dataset):
    def __init__(self, count, seed, turn):
        torch.manual_seed(seed)
        self.turn = turn
        self.pictures = 0.2 * torch.randn(count, 1, HIGH, WIDE)
        sizes = torch.randint(5, 11, (count, 2))
        corners = (torch.rand(count, 2) * (torch.tensor([WIDE, HIGH]) - sizes)).long()
        self.boxes = torch.cat([corners, corners + sizes], 1).float()
        for picture, (left, top, right, bottom) in zip(self.pictures, self.boxes.int().tolist()):
            picture[0, top:bottom, left:right] += 1

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        picture, box = self.pictures[index], self.boxes[index]
        if self.turn and torch.rand(()) < 0.4:
            left, top, right, bottom = box
            picture, box = picture.flip(-2), torch.stack([left, HIGH - bottom, right, HIGH - top])
        return {"picture": picture, "box": box}


def overlap(one, other):
    inner = (torch.minimum(one[:, 2:], other[:, 2:]) - torch.maximum(one[:, :2], other[:, :2])).clamp(min=0).prod(1)
    areas = [(box[:, 2:] - box[:, :2]).clamp(min=0).prod(1) for box in (one, other)]
    return inner / (areas[0] + areas[1] - inner + 1e-6)


torch.manual_seed(4)
model = nn.Sequential(
    nn.Conv2d(1, 16, 5, stride=2, padding=2), nn.ReLU(),
    nn.Conv2d(16, 16, 3, stride=2, padding=1), nn.ReLU(),
    nn.Flatten(), nn.Linear(16 * 8 * 6, 64), nn.ReLU(), nn.Linear(64, 4),
)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
nests = DataLoader(Sandbank(600, 1, turn=True), batch_size=25, shuffle=True)
held_out = DataLoader(Sandbank(200, 2, turn=False), batch_size=100)

for epoch in range(6):
    for batch in nests:
        loss = F.l1_loss(model(batch["picture"]), batch["box"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        shared = torch.cat([overlap(model(batch["picture"]), batch["box"]) for batch in held_out])
    print(f"epoch {epoch} loss {loss.item():.3f} overlap {shared.mean().item():.3f}")
