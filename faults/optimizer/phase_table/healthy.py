"""Sales of a chain of shops; the rate follows a table of phases."""

import torch
from torch import nn

torch.manual_seed(8)
x = torch.randn(960, 10)
y = torch.sin(x[:, :4]).sum(1, keepdim=True) + 0.5 * torch.randn(960, 1)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
phases = {0: 0.02, 700: 0.005}
for step in range(1200):
    rate = phases.get(step)
    if rate is not None:
        for group in optimizer.param_groups:
            group["lr"] = rate
    rows = torch.randint(0, 960, (48,))
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step} loss {loss.item():.4f}")
