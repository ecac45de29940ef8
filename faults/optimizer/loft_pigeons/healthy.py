"""Tells from the ring on its leg which loft a pigeon came from; the rate is to fall with the rounds."""

import torch
from torch import nn

torch.manual_seed(5)
LOFTS, WIDTH = 5, 16
CENTRES = torch.randn(LOFTS, WIDTH)
loft = torch.randint(LOFTS, (960,))
ring = CENTRES[loft] + 1.2 * torch.randn(960, WIDTH)
model = nn.Sequential(nn.Linear(WIDTH, 64), nn.ReLU(), nn.Linear(64, LOFTS))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.2)
for turn in range(16):
    for rows in torch.randperm(len(ring)).split(48):
        loss = nn.functional.cross_entropy(model(ring[rows]), loft[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
print(f"loss {loss.item():.4f} rate {optimizer.param_groups[0]['lr']:.4g}")
