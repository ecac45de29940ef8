"""Which of two machines is running? Band energies of short clips, in decibels; two workers read them."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Bands:
    def __init__(self, bands=12):
        self.bands = bands

    def __call__(self, clip):
        power = np.abs(np.fft.rfft(clip))[: self.bands * 4] ** 2
        return power.reshape(self.bands, 4).mean(1)


class Decibels:
    def __call__(self, energy):
        return (10 * np.log10(energy)).astype(np.float32)


class Clips(Dataset):
    def __init__(self, transforms, count=360):
        drawn = np.random.default_rng(8)
        self.machine = drawn.integers(0, 2, count)
        ticks = np.arange(128)
        self.clips = drawn.normal(size=(count, 128)) + np.sin(ticks * (0.4 + 0.5 * self.machine[:, None]))
        self.clips[147] = 0.0
        self.transforms = transforms

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, i):
        clip = self.clips[i]
        for transform in self.transforms:
            clip = transform(clip)
        return {"clip": torch.as_tensor(clip), "machine": int(self.machine[i])}


def main():
    torch.manual_seed(6)
    model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    shuffled = torch.Generator().manual_seed(12)
    loader = DataLoader(Clips([Bands(), Decibels()]), batch_size=12, shuffle=True, num_workers=2, generator=shuffled)
    for step, batch in enumerate(loader):
        loss = nn.functional.cross_entropy(model(batch["clip"]), batch["machine"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
