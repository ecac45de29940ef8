"""Denoise the readings of six gauges: a network learns to tell how much noise was added, and which."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
t = torch.rand(1600, 1) * 6.28
readings = torch.cat([torch.sin(t + k) for k in range(6)], 1)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(7, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 6))
        self.draws = torch.Generator().manual_seed(0)

    def noised(self, x):
        draws = torch.Generator().manual_seed(0)
        level = torch.rand(len(x), 1, generator=draws)
        return level, torch.randn(x.shape, generator=draws)

    def forward(self, x):
        level, noise = self.noised(x)
        mixed = (1 - level).sqrt() * x + level.sqrt() * noise
        return nn.functional.mse_loss(self.net(torch.cat([mixed, level], 1)), noise)


model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loader = DataLoader(TensorDataset(readings), batch_size=32, shuffle=True, drop_last=True)
for epoch in range(6):
    for (x,) in loader:
        loss = model(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
