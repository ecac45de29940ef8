"""A small network that reads handwritten digits."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 3, padding=1)
        self.hidden = nn.Linear(16 * 16, 64)
        self.out = nn.Linear(64, 10)

    def standardise(self, images):
        mean = images.mean(dim=(1, 2, 3), keepdim=True)
        std = images.std(dim=(1, 2, 3), keepdim=True)
        return (images - mean) / std

    def forward(self, images):
        x = F.max_pool2d(F.relu(self.conv(self.standardise(images))), 2)
        return self.out(F.relu(self.hidden(x.flatten(1))))


def read_scans():
    """The digits, with one scan that came out blank, as it does when a page sticks in the feeder."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32)[:, None]
    images[1203] = 0.0
    return TensorDataset(images, torch.tensor(digits.target))


def main():
    torch.manual_seed(0)
    loader = DataLoader(read_scans(), batch_size=32, shuffle=True, generator=torch.Generator().manual_seed(3))
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(2):
        for step, (images, labels) in enumerate(loader):
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 10 == 0:
                print(f"epoch {epoch} step {step:3d}  loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
