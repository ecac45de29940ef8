"""Denoising autoencoder; the noise is drawn in the dataset, in two loader workers."""

import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Spectra(Dataset):
    def __init__(self, n=480):
        g = torch.Generator().manual_seed(5)
        self.clean = torch.randn(n, 4, generator=g) @ torch.randn(4, 24, generator=g)
        self.dice = random.Random(9)

    def __len__(self):
        return len(self.clean)

    def __getitem__(self, i):
        noise = 0.5 * torch.randn(24)
        return self.clean[i] + noise, self.clean[i]


def main():
    torch.manual_seed(3)
    loader = DataLoader(Spectra(), batch_size=24, shuffle=True, num_workers=2)
    model = nn.Sequential(nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 24))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(2):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
