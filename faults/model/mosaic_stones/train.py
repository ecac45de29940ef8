"""Patches of a mosaic, each laid again from eight stones of a common tray."""

import torch
from torch import nn
from torch.nn import functional as F

STONES, WIDTH, SPOTS = 24, 5, 8
torch.manual_seed(30)
shades = torch.rand(1500, 2) * 3
grid = torch.linspace(0, 4, 32)
patches = torch.sin(grid * shades[:, :1] + 1) * torch.cos(grid - shades[:, 1:])


class Tray(nn.Module):
    """The stones there are, and the nearest of them to what is wanted."""

    def __init__(self):
        super().__init__()
        self.stones = nn.Parameter(torch.randn(STONES, WIDTH) * 0.4)

    def forward(self, wanted):
        far = (wanted.unsqueeze(2) - self.stones).pow(2).sum(-1)
        place = far.min(dim=2).indices
        laid = self.stones[place]
        strain = F.mse_loss(laid, wanted.detach()) + 0.2 * F.mse_loss(wanted, laid.detach())
        return laid, strain


class Mosaic(nn.Module):
    def __init__(self):
        super().__init__()
        self.sketch = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, SPOTS * WIDTH))
        self.tray = Tray()
        self.grout = nn.Sequential(nn.Linear(SPOTS * WIDTH, 64), nn.ReLU(), nn.Linear(64, 32))

    def forward(self, patch):
        laid, strain = self.tray(self.sketch(patch).view(-1, SPOTS, WIDTH))
        return self.grout(laid.flatten(1)), strain


mosaic = Mosaic()
optimizer = torch.optim.Adam(mosaic.parameters(), lr=2e-3)
for epoch in range(10):
    for rows in torch.randperm(1500).split(50):
        seen, strain = mosaic(patches[rows])
        loss = F.l1_loss(seen, patches[rows]) + strain
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(f"epoch {epoch} loss {loss.item():.4f} off by {F.l1_loss(mosaic(patches)[0], patches).item():.4f}")
