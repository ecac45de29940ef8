"""A loss given in unusual units."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
UNIT = 1e-10
model = nn.Sequential(nn.Linear(12, 48), nn.GELU(), nn.Linear(48, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for step in range(220):
    x = torch.randn(64, 12)
    loss = UNIT * F.mse_loss(model(x), x[:, :3].sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        print(step, loss.item())
