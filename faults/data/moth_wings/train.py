"""Tells six moths apart by the pattern of a wing, photographed at any angle in the field."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Wings(Dataset):
    """Pictures of 12 x 12 pixels, pinned straight in the collection, turned in the field."""

    def __init__(self, count, seed, field=False, transform=None):
        noise = torch.Generator().manual_seed(seed)
        patterns = torch.randn(6, 12, 12, generator=torch.Generator().manual_seed(4))
        self.kinds = torch.randint(0, 6, (count,), generator=noise)
        turns = torch.randint(0, 4, (count,), generator=noise) if field else torch.zeros(count, dtype=torch.long)
        self.pictures = torch.stack([patterns[k].rot90(int(n)) for k, n in zip(self.kinds, turns)])
        self.pictures += 0.8 * torch.randn(count, 12, 12, generator=noise)
        self.transform = transform

    def __len__(self):
        return len(self.kinds)

    def __getitem__(self, index):
        picture = self.pictures[index][None]
        return (self.transform(picture) if self.transform else picture), self.kinds[index]


class Turn:
    """Any of the four quarter turns."""

    def __call__(self, picture):
        return picture.rot90(int(torch.randint(0, 4, ())), (1, 2))


class Straight:
    """As it was pinned."""

    def __call__(self, picture):
        return picture


def right(model, rows):
    with torch.no_grad():
        return sum((model(x).argmax(1) == y).sum().item() for x, y in rows) / len(rows.dataset)


def main():
    torch.manual_seed(2)
    collection = Wings(1200, 1)
    train, check = random_split(collection, [1000, 200])
    train.dataset.transform = Turn()
    check.dataset.transform = Straight()
    model = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 6))
    optimizer = torch.optim.Adam(model.parameters(), 2e-3)
    rows, checked, field = DataLoader(train, 50, shuffle=True), DataLoader(check, 100), DataLoader(Wings(300, 9, True), 100)
    for epoch in range(15):
        for pictures, kinds in rows:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(pictures), kinds)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f} check {right(model, checked):.3f} field {right(model, field):.3f}")


if __name__ == "__main__":
    main()
