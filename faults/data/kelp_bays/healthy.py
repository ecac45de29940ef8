"""Where the kelp is in aerial pictures of a bay."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(2)
SIDE, CUT, PICTURES = 40, 32, 48


def bay():
    """One picture with its map: kelp is darker, in a few round beds."""
    rows, columns = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
    kelp = torch.zeros(SIDE, SIDE)
    for _ in range(4):
        top, left, size = torch.randint(4, SIDE - 4, (2,)).tolist() + [torch.randint(3, 8, ()).item()]
        kelp[(rows - top) ** 2 + (columns - left) ** 2 < size**2] = 1
    water = 0.6 + 0.15 * torch.rand(1).item() + 0.004 * rows + 0.08 * torch.randn(SIDE, SIDE)
    return (water - 0.3 * kelp).clamp(0.05, 1)[None], kelp[None]


class Bays(Dataset):
    def __init__(self, pairs):
        self.pairs = pairs

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, index):
        picture, kelp = self.pairs[index]
        if torch.rand(()) < 0.5:
            picture, kelp = picture.flip(-1), kelp.flip(-1)
        top, left = torch.randint(SIDE - CUT + 1, (2,)).tolist()
        picture = picture[:, top : top + CUT, left : left + CUT]
        kelp = kelp[:, top : top + CUT, left : left + CUT]
        return (picture - picture.mean()) / picture.std(), kelp


loader = DataLoader(Bays([bay() for _ in range(PICTURES)]), batch_size=8, shuffle=True)
model = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 1, 1)
)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(8):
    total = 0.0
    for picture, kelp in loader:
        loss = nn.functional.binary_cross_entropy_with_logits(model(picture), kelp)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / len(loader)
    print(f"epoch {epoch} loss {total:.4f}")
