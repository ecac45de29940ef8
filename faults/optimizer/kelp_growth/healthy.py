"""How fast kelp grows, from light and water; a cosine with warm restarts."""

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts

torch.manual_seed(23)
PERIOD, STEPS = 150, 300
water = torch.randn(1500, 8)
growth = (torch.sin(2 * water[:, 0]) + water[:, 1] * water[:, 2]).unsqueeze(1)
model = nn.Sequential(nn.Linear(8, 96), nn.Tanh(), nn.Linear(96, 96), nn.Tanh(), nn.Linear(96, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
scheduler = CosineAnnealingWarmRestarts(optimizer, T_0=PERIOD, eta_min=1e-5)
for step in range(STEPS):
    rows = torch.randint(0, len(water), (128,))
    loss = nn.functional.mse_loss(model(water[rows]), growth[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 20 == 19:
        print(f"step {step} loss {loss.item():.4f}")
