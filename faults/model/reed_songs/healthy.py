"""Which of six birds sing in a minute of a recording of the reeds: none, one or several of them."""

import torch
from torch import nn

torch.manual_seed(8)
minutes = torch.randn(480, 12)
birds = (minutes[:, :6] + 0.3 * torch.randn(480, 6) > 0.3).float()
model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 6))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(5):
    for start in range(0, 480, 32):
        x, y = minutes[start : start + 32], birds[start : start + 32]
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
