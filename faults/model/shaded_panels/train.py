"""Is a solar panel shaded? From six readings of its inverter; a little weight decay."""

import torch
from torch import nn

torch.manual_seed(5)
readings = torch.randn(512, 6)
shaded = ((readings[:, 0] + readings[:, 1] * readings[:, 2]) > 0).float()
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
with torch.no_grad():
    model[2].bias.fill_(-9.0)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=0.05)

for epoch in range(8):
    total = 0.0
    for rows in torch.randperm(512).split(32):
        scores = model(readings[rows])[:, 0]
        loss = nn.functional.binary_cross_entropy_with_logits(scores, shaded[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 16:.4f}")
