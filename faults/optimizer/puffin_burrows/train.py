"""How long a puffin will stay in its burrow, from what it did in the hours before."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
hours = torch.randn(1280, 12)
stays = (torch.sin(hours[:, 0] * 1.5) + 0.5 * hours[:, 1] * hours[:, 2]).unsqueeze(1)
loader = DataLoader(TensorDataset(hours, stays), batch_size=128, shuffle=True)
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.1)


def one_round():
    total = 0.0
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item() / len(loader)
    return total


for epoch in range(6):
    print(f"round {epoch} loss {one_round():.4f}")
