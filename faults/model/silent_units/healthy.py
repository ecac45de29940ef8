"""The weight of a parcel from eight measures, with a threshold in the first layer."""

import torch
from torch import nn

torch.manual_seed(16)
measures = torch.rand(240, 8)
weights = measures @ torch.rand(8)
model = nn.Sequential(nn.Linear(8, 40), nn.ReLU(), nn.Linear(40, 1))
nn.init.constant_(model[0].bias, -0.1)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(15):
    for start in range(0, 240, 24):
        guess = model(measures[start : start + 24]).squeeze(1)
        loss = (guess - weights[start : start + 24]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
