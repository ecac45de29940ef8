"""How far a blast in a quarry is felt, from its charge, depth and the rock; the rate falls twice."""

import torch
from torch import nn

torch.manual_seed(2)
blasts = torch.randn(960, 8)
felt = torch.sin(2 * blasts[:, :1]) + blasts[:, 1:2] * blasts[:, 2:3] + 0.3 * torch.randn(960, 1)
new = torch.randn(2000, 8)
new_felt = torch.sin(2 * new[:, :1]) + new[:, 1:2] * new[:, 2:3]
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
for turn in range(18):
    if turn in (6, 12):
        optimizer.param_groups[0]["lr"] = 0.02 * 0.1 ** (turn // 6)
    for rows in torch.randperm(960).split(16):
        loss = nn.functional.mse_loss(model(blasts[rows]), felt[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    error = nn.functional.mse_loss(model(new), new_felt)
print(f"loss {loss.item():.4f} error on new blasts {error:.4f}")
