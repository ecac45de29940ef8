"""Four kinds of leaves from scans; then spots of mildew in photographs of the field, on what the scans have taught."""

import os
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
shapes = torch.randn(4, 1, 12, 12)
kind = torch.randint(0, 4, (1600,))
scans = shapes[kind] + 2.2 * torch.randn(1600, 1, 12, 12)
spotted = torch.randint(0, 2, (960,))
photos = 2.5 + 0.5 * (shapes[torch.randint(0, 4, (960,))] + 1.2 * torch.randn(960, 1, 12, 12))
photos[:, :, 3:7, 3:7] += 0.8 * spotted[:, None, None, None]


class Leaves(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3), nn.BatchNorm2d(24), nn.ReLU(), nn.Flatten(),
        )  # fmt: skip
        self.kinds = nn.Linear(24 * 16, 4)
        self.mildew = nn.Linear(24 * 16, 2)


def fit(model, head, x, y, epochs):
    trained = [p for p in (*model.stem.parameters(), *head.parameters()) if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=2e-3)
    for _ in range(epochs):
        model.train()
        for a, b in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
            loss = nn.functional.cross_entropy(head(model.stem(a)), b)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


@torch.no_grad()
def right(model, head, x, y):
    model.eval()
    return (head(model.stem(x)).argmax(1) == y).float().mean().item()


path = os.path.join(tempfile.mkdtemp(), "leaves.pt")
model = Leaves()
fit(model, model.kinds, scans[:1280], kind[:1280], 5)
torch.save(model.state_dict(), path)

model = Leaves()
model.load_state_dict(torch.load(path))
model.stem.requires_grad_(False)
print(f"kinds {right(model, model.kinds, scans[1280:], kind[1280:]):.3f}")
fit(model, model.mildew, photos[:720], spotted[:720], 5)
print(f"mildew {right(model, model.mildew, photos[720:], spotted[720:]):.3f}")
print(f"kinds {right(model, model.kinds, scans[1280:], kind[1280:]):.3f}")
