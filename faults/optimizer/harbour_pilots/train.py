"""How long a pilot is on board, from ship and weather; a linear warm-up of the learning rate."""

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset

WARMUP = 60


def warm(step):
    return min(1.0, (step + 1) / WARMUP)


torch.manual_seed(44)
ships = torch.randn(960, 14)
hours = (ships[:, :4].sum(1) + ships[:, 4] * ships[:, 5]).unsqueeze(1)
loader = DataLoader(TensorDataset(ships, hours), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(14, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
scheduler = LambdaLR(optimizer, warm)
for epoch in range(8):
    for ship, hour in loader:
        loss = nn.functional.mse_loss(model(ship), hour)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
