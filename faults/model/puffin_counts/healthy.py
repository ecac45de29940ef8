"""Is a burrow on the slope taken by puffins? From readings at its entrance; few are."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
BURROWS, READINGS = 1600, 12
readings = torch.randn(BURROWS, READINGS)
taken = (readings[:, :4].sum(1) + 0.8 * torch.randn(BURROWS) > 2.4).float()
train = TensorDataset(readings[:1200], taken[:1200])
held_out = TensorDataset(readings[1200:], taken[1200:])


class Warden(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(READINGS, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


warden = Warden()
optimizer = torch.optim.Adam(warden.parameters(), lr=2e-3)


def count():
    """Recall and precision on the burrows held out."""
    found = said = there = 0
    warden.eval()
    with torch.no_grad():
        for x, y in DataLoader(held_out, batch_size=100):
            yes = (torch.sigmoid(warden(x)) > 0.5).float()
            found, said, there = found + (yes * y).sum().item(), said + yes.sum().item(), there + y.sum().item()
    warden.train()
    return found / there, found / max(said, 1)


for epoch in range(12):
    total = 0.0
    for x, y in DataLoader(train, batch_size=48, shuffle=True):
        loss = F.binary_cross_entropy_with_logits(warden(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 3 == 2:
        recall, precision = count()
        print(f"epoch {epoch} loss {total / 25:.4f} recall {recall:.3f} precision {precision:.3f}")
