"""Energy of a house from its rooms; four small batches make one update."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(17)
x = torch.randn(512, 10)
y = x[:, :1] * 0.8 - 0.5 * x[:, 1:2] + 0.1 * torch.randn(512, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
PARTS = 4
for epoch in range(3):
    for i, (rooms, energy) in enumerate(loader):
        loss = nn.functional.mse_loss(model(rooms), energy)
        loss.backward()
        if (i + 1) % PARTS == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(f"epoch {epoch} loss {loss.item():.4f}")
