"""Estimates the pitch of bell recordings; each is shifted and mixed with noise whenever it is read."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

dice = np.random.default_rng(4)


def disturb(wave):
    shifted = np.roll(wave, dice.integers(-3, 4))
    return shifted + 0.3 * dice.standard_normal(len(wave))


class Bells(Dataset):
    def __init__(self, count=480):
        made = np.random.default_rng(1)
        self.pitch = made.uniform(0.2, 1.2, count)
        self.phase = made.uniform(0.0, 6.28, count)

    def __len__(self):
        return len(self.pitch)

    def __getitem__(self, index):
        wave = np.sin(self.pitch[index] * np.arange(32) + self.phase[index])
        return disturb(wave).astype(np.float32), np.float32(self.pitch[index])


def main():
    torch.manual_seed(2)
    loader = DataLoader(Bells(), batch_size=24, shuffle=True, num_workers=2)
    model = nn.Sequential(nn.Linear(32, 48), nn.ReLU(), nn.Linear(48, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(3):
        total = 0.0
        for wave, pitch in loader:
            loss = nn.functional.mse_loss(model(wave).squeeze(1), pitch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
