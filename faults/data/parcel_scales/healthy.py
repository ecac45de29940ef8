"""Which of four labels a parcel carries, from a small grey scan; checked on other parcels after each epoch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(2)


def shifted(scan):
    row, column = torch.randint(0, 5, (2,)).tolist()
    return nn.functional.pad(scan, (2, 2, 2, 2))[:, row : row + 14, column : column + 14]


def centred(scan):
    return (scan - 0.52) / 0.13


class Parcels(Dataset):
    def __init__(self, count, steps):
        self.label = torch.randint(0, 4, (count,))
        self.scans = (0.5 + 0.1 * torch.randn(count, 1, 14, 14)).clamp(0, 1)
        for scan, label in zip(self.scans, self.label.tolist()):
            scan[0, 3 * label + 1 : 3 * label + 4, 4:10] += 0.15
        self.scans.clamp_(0, 1)
        self.steps = steps

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        scan = self.scans[i]
        for step in self.steps:
            scan = step(scan)
        return scan, self.label[i]


belt = DataLoader(Parcels(960, [shifted, centred]), batch_size=32, shuffle=True)
other = DataLoader(Parcels(240, [centred]), batch_size=60)
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 196, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(5):
    model.train()
    for scans, label in belt:
        loss = nn.functional.cross_entropy(model(scans), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(scans).argmax(1) == label).sum().item() for scans, label in other)
    print(f"epoch {epoch} loss {loss.item():.4f} right {right} of 240")
