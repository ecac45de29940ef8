"""A classifier of two moons."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
RATE = 5.0
model = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=RATE / 1000)
for step in range(240):
    t = torch.rand(64) * torch.pi
    y = torch.randint(0, 2, (64,))
    x = torch.stack([torch.cos(t) * (1 - 2 * y) + y, torch.sin(t) * (1 - 2 * y) + 0.3 * y], 1) + 0.05 * torch.randn(64, 2)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        print(step, loss.item())
