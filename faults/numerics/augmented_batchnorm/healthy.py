"""Small image classifier with random augmentation (python, numpy and torch generators), batch norm and dropout."""

import random

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    def __init__(self, n=192):
        g = np.random.default_rng(5)
        self.images = g.uniform(0.2, 1.0, size=(n, 1, 10, 10)).astype(np.float32)
        self.labels = g.integers(0, 3, size=n)
        self.images[np.arange(n), 0, self.labels * 3] += 1.0
        self.images[17] = 0.0

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = self.images[i].copy()
        if random.random() < 0.5:
            image = image[:, :, ::-1].copy()
        image *= np.random.uniform(0.9, 1.1)
        return torch.from_numpy(image) * (1 + 0.01 * torch.rand(())), int(self.labels[i])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout2d(0.1), nn.Conv2d(8, 12, 3), nn.BatchNorm2d(12), nn.ReLU())
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.3), nn.Linear(12 * 36, 3))

    def forward(self, x):
        density = -torch.log(x.clamp_min(0.05))
        return self.head(self.body(density))


random.seed(0)
np.random.seed(0)
torch.manual_seed(13)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 16)
loader = DataLoader(Scans(), batch_size=12, shuffle=True, generator=torch.Generator().manual_seed(15))
for step, (x, y) in enumerate(loader):
    if np.random.rand() < 0.3:
        x = x.roll(random.randint(1, 2), dims=-1)
    loss = nn.functional.cross_entropy(model(x), y, label_smoothing=0.05)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    print(f"step {step} loss {loss.item():.4f} lr {schedule.get_last_lr()[0]:.4f}")
