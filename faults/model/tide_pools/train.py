"""Shapes of tide pools from a few numbers each: outlines are encoded and drawn again."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
angle = torch.linspace(0, 6.28, 24)
wide, bent = torch.rand(900, 1) + 0.5, torch.rand(900, 1) - 0.5
outlines = wide + bent * torch.sin(2 * angle) + 0.02 * torch.randn(900, 24)


class Pools(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.Sequential(nn.Linear(24, 48), nn.ReLU())
        self.middle, self.spread = nn.Linear(48, 3), nn.Linear(48, 3)
        self.draw = nn.Sequential(nn.Linear(3, 48), nn.ReLU(), nn.Linear(48, 24))

    def forward(self, outline):
        found = self.read(outline)
        middle, log_variance = self.middle(found), self.spread(found)
        deviation = torch.exp(log_variance)
        latent = middle + deviation * torch.randn_like(deviation)
        return self.draw(latent), middle, log_variance


model = Pools()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(12):
    for (outline,) in DataLoader(TensorDataset(outlines), batch_size=45, shuffle=True):
        drawn, middle, log_variance = model(outline)
        apart = 50 * (drawn - outline).square().sum(1).mean()
        divergence = -0.5 * (1 + log_variance - middle.square() - log_variance.exp()).sum(1).mean()
        loss = apart + divergence
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f} divergence {divergence.item():.3f}")
with torch.no_grad():
    told = model.draw(torch.randn(900, 3))
    print(f"a drawn one is {torch.cdist(told, outlines).amin(1).mean():.3f} from the nearest pool")
