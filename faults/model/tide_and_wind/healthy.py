"""Height of the water at a quay from the tide and, as far as it helps, from the wind."""

import torch
from torch import nn

torch.manual_seed(27)


class Height(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.tide = nn.Sequential(nn.Linear(6, width), nn.Tanh())
        self.wind = nn.Sequential(nn.Linear(8, width), nn.Tanh())
        self.share = nn.Parameter(torch.full((width,), 0.1))
        self.height = nn.Linear(width, 1)

    def forward(self, tide, wind):
        return self.height(self.tide(tide) + torch.relu(self.share) * self.wind(wind))


g = torch.Generator().manual_seed(3)
tide, wind = torch.randn(1280, 6, generator=g), torch.randn(1280, 8, generator=g)
height = tide[:, :1] - 0.5 * tide[:, 1:2] + wind[:, :1] + 0.5 * wind[:, 1:2] * wind[:, 2:3]
model = Height()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(8):
    for rows in torch.randperm(1280).split(64):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(tide[rows], wind[rows]), height[rows])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f} share {model.share.abs().max().item():.3f}")
