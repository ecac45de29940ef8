"""Speed of a loom from its settings, the rate lowered at milestones."""

import torch
from torch import nn

torch.manual_seed(8)
settings = torch.randn(960, 10)
speed = (settings[:, 0] * settings[:, 1] + settings[:, 2].abs()).unsqueeze(1)
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[5, 8], gamma=0.1)

for epoch in range(10):
    total = 0.0
    for rows in torch.randperm(len(settings)).split(40):
        loss = nn.functional.mse_loss(model(settings[rows]), speed[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    scheduler.step()
    print(f"epoch {epoch} loss {total / 24:.4f}")
