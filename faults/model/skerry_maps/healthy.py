"""Which pixels of a radar picture are skerries? The overlap of what is said and what is there is to be large."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
PICTURES, SIDE = 384, 20
row, column = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
place, size = torch.rand(2, PICTURES, 1, 1) * 12 + 4, torch.rand(PICTURES, 1, 1) * 3 + 1.5
rock = ((row - place[0]) ** 2 + (column - place[1]) ** 2 < size**2).float()[:, None]
echo = 0.9 * rock + 0.3 * torch.randn(rock.shape)

plotter = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
    nn.Conv2d(16, 1, 1), nn.Sigmoid(),
)  # fmt: skip
optimizer = torch.optim.Adam(plotter.parameters(), lr=3e-3)


def overlap(said, there):
    """One less the Dice coefficient."""
    shown = said
    both = (shown * there).sum()
    return 1 - (2 * both + 1) / (shown.sum() + there.sum() + 1)


for epoch in range(15):
    total = 0.0
    for picture, there in DataLoader(TensorDataset(echo[:320], rock[:320]), batch_size=32, shuffle=True):
        loss = overlap(plotter(picture), there)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 4:
        with torch.no_grad():
            said = (plotter(echo[320:]) > 0.5).float()
        dice = 2 * (said * rock[320:]).sum() / (said.sum() + rock[320:].sum() + 1e-6)
        print(f"epoch {epoch} loss {total / 10:.4f} dice {dice:.3f}")
