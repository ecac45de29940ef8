"""How long a parcel stays in the sorting hall: each parcel is put into one of six drawers, which have a vector each."""

import torch
from torch import nn


class Hall(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.Linear(8, 24)
        self.drawer = nn.Linear(24, 6)
        self.vectors = nn.Parameter(torch.randn(6, 24) * 0.1)
        self.hours = nn.Linear(24, 1)

    def forward(self, parcel):
        seen = torch.tanh(self.read(parcel))
        scores = self.drawer(seen)
        share = scores.softmax(1)
        return self.hours(seen + share @ self.vectors)


torch.manual_seed(2)
parcels = torch.randn(960, 8)
hours = (parcels[:, :3].sum(1) + (parcels[:, 3] > 0) * parcels[:, 4]).unsqueeze(1)
model = Hall()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for rows in torch.randperm(960).split(32):
        loss = nn.functional.mse_loss(model(parcels[rows]), hours[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
