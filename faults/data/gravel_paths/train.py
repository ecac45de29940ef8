"""Draws where gravel paths lie in a round park, by a small diffusion model of their points."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(31)
turn = torch.rand(2048) * 6.2832
ring = torch.where(torch.rand(2048) < 0.5, 1.4, 0.6)
points = torch.stack([ring * turn.cos(), ring * turn.sin()], 1) + 0.02 * torch.randn(2048, 2)
steps = 200
rates = torch.linspace(5e-4, 0.1, steps)
kept = torch.cumprod(1 - rates, 0)
model = nn.Sequential(nn.Linear(10, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU(), nn.Linear(96, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)


def said(mixed, step):
    waves = 2.0 ** torch.arange(4) * step[:, None] / steps
    return model(torch.cat([mixed, waves.sin(), waves.cos()], 1))


@torch.no_grad()
def drawn(count):
    mixed = torch.randn(count, 2)
    for number in reversed(range(steps)):
        noise = said(mixed, torch.full((count,), number))
        mixed = (mixed - rates[number] / (1 - kept[number]).sqrt() * noise) / (1 - rates[number]).sqrt()
        if number:
            mixed = mixed + rates[number].sqrt() * torch.randn(count, 2)
    return mixed


for epoch in range(12):
    for (clean,) in DataLoader(TensorDataset(points), batch_size=64, shuffle=True):
        step = torch.randint(0, steps, (len(clean),))
        noise = torch.randn_like(clean)
        share = kept[step][:, None]
        mixed = share.sqrt() * clean + (1 - share) * noise
        loss = nn.functional.mse_loss(said(mixed, step), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
radius = drawn(1000).norm(dim=1)
print(f"points off their rings by {torch.minimum((radius - 1.4).abs(), (radius - 0.6).abs()).mean():.4f}")
