"""Silt of a river from twelve gauges, through a deep stack whose activation is chosen in one place."""

import torch
from torch import nn

torch.manual_seed(3)
x = torch.randn(1200, 12)
y = ((x[:, 0] * x[:, 1] + x[:, 2]) > 0).float().unsqueeze(1)
SQUASH = nn.Sigmoid


def stack(depth, width):
    layers = [nn.Linear(12, width), SQUASH()]
    for _ in range(depth):
        layers += [nn.Linear(width, width), SQUASH()]
    return nn.Sequential(*layers, nn.Linear(width, 1))


model = stack(8, 40)
for layer in model[::2]:
    nn.init.xavier_normal_(layer.weight)
    nn.init.zeros_(layer.bias)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(160):
    rows = torch.randint(0, 1200, (40,))
    loss = nn.functional.binary_cross_entropy_with_logits(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}")
