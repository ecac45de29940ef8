"""Kinds of stone from their surface; spectral norms, and a test before each epoch."""

import torch
from torch import nn
from torch.nn.utils import spectral_norm
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(29)


class Stones(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = spectral_norm(nn.Linear(40, 80)), spectral_norm(nn.Linear(80, 4))

    def forward(self, surface):
        return 4 * self.down(torch.relu(self.up(surface)))


def test(model, surface, kind):
    model.eval()
    with torch.no_grad():
        scores = model(surface)
    right = (scores.argmax(1) == kind).float().mean()
    print(f"loss {nn.functional.cross_entropy(scores, kind).item():.4f} right {right.item():.3f}")


surface = torch.randn(720, 40)
kind = (surface @ torch.randn(40, 4)).argmax(1)
loader = DataLoader(TensorDataset(surface[:600], kind[:600]), batch_size=30, shuffle=True)
model = Stones()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(5):
    test(model, surface[600:], kind[600:])
    model.train()
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
