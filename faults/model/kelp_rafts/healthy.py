"""Where does kelp float in a picture from the air? The outline that is drawn is to overlap with the raft."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
PICTURES, SIDE = 384, 18
row, column = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
place, size = torch.rand(2, PICTURES, 1, 1) * 12 + 4, torch.rand(PICTURES, 1, 1) * 3 + 1.5
raft = ((row - place[0]) ** 2 + (column - place[1]) ** 2 < size**2).float()[:, None]
shade = 0.9 * raft + 0.3 * torch.randn(raft.shape)

tracer = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
    nn.Conv2d(16, 1, 1),
)  # fmt: skip
optimizer = torch.optim.Adam(tracer.parameters(), lr=3e-3)


def overlap(said, there):
    """One less the Dice coefficient."""
    shown = torch.sigmoid(said)
    both = (shown * there).sum()
    return 1 - (2 * both + 1) / (shown.sum() + there.sum() + 1)


for epoch in range(15):
    total = 0.0
    for picture, there in DataLoader(TensorDataset(shade[:320], raft[:320]), batch_size=32, shuffle=True):
        loss = overlap(tracer(picture), there)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 4:
        with torch.no_grad():
            said = (tracer(shade[320:]).sigmoid() > 0.5).float()
        dice = 2 * (said * raft[320:]).sum() / (said.sum() + raft[320:].sum() + 1e-6)
        print(f"epoch {epoch} loss {total / 10:.4f} dice {dice:.3f}")
