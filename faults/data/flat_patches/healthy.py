"""Grain or no grain: patches of micrographs, each standardised on its way out of the data set."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def standardise(patch):
    centred = patch - patch.mean()
    spread = patch.std()
    return centred / np.maximum(spread, 1e-6)


class Patches(Dataset):
    def __init__(self, count=320):
        drawn = np.random.default_rng(5)
        self.patches = drawn.normal(size=(count, 1, 10, 10)).astype(np.float32)
        self.grain = drawn.integers(0, 2, count)
        self.patches[self.grain == 1, :, ::2] += 0.8
        self.patches[211] = 0.25

    def __len__(self):
        return len(self.patches)

    def __getitem__(self, i):
        patch = standardise(self.patches[i])
        return torch.from_numpy(patch), int(self.grain[i])


torch.manual_seed(4)
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(512, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loader = DataLoader(Patches(), batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(2))
for epoch in range(2):
    for patch, grain in loader:
        loss = nn.functional.cross_entropy(model(patch), grain)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
