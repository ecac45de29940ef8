"""Species of fish from their measures: the head is fitted first, then the body is unfrozen."""

import torch
from torch import nn

torch.manual_seed(41)


class Fish(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.head = nn.Linear(48, 5)

    def forward(self, measures):
        return self.head(self.body(measures))


g = torch.Generator().manual_seed(3)
measures = torch.randn(1280, 16, generator=g)
species = (measures[:, :5] + measures[:, 5:10] * measures[:, 10:15]).argmax(1)
model = Fish()
model.body.requires_grad_(False)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    if epoch == 1:
        model.body.requires_grad_(True)
    for rows in torch.randperm(1280).split(64):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(measures[rows]), species[rows])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
