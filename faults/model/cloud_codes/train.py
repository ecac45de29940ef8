"""Two numbers for the shape of a cloud, from its outline, and the outline again from them."""

import math

import torch
from torch import nn
from torch.distributions import Normal, kl_divergence

torch.manual_seed(11)
around = torch.linspace(0, 2 * math.pi, 25)[:-1]
shapes = torch.randn(600, 2)
outlines = shapes[:, :1] * (2 * around).cos() + shapes[:, 1:] * (3 * around).sin() + 0.1 * torch.randn(600, 24)


class Clouds(nn.Module):
    def __init__(self, codes=2):
        super().__init__()
        self.read = nn.Sequential(nn.Linear(24, 64), nn.ReLU())
        self.centre = nn.Linear(64, codes)
        self.width = nn.Linear(64, codes)
        self.draw = nn.Sequential(nn.Linear(codes, 64), nn.ReLU(), nn.Linear(64, 24))

    def forward(self, outline):
        seen = self.read(outline)
        code = Normal(self.centre(seen), nn.functional.softplus(self.width(seen)) + 1e-3)
        return self.draw(code.sample()), code


clouds = Clouds()
optimizer = torch.optim.Adam(clouds.parameters(), lr=3e-3)
prior = Normal(torch.zeros(2), torch.ones(2))

for epoch in range(12):
    total = 0.0
    for part in torch.randperm(len(outlines)).split(50):
        again, code = clouds(outlines[part])
        away = (again - outlines[part]).square().sum(1).mean()
        loss = away + 0.2 * kl_divergence(code, prior).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += away.item()
    if epoch % 4 == 3:
        print(f"epoch {epoch} away {total / 12:.3f}")
