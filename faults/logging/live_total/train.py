"""Ridge-like regression that prints a running mean of its loss."""

import torch
import torch.nn as nn

torch.manual_seed(6)
x = torch.randn(400, 12)
y = x @ torch.randn(12, 1) + 0.1 * torch.randn(400, 1)
model = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
total = 0.0
for step in range(60):
    rows = torch.randint(0, 400, (32,))
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss
    if step % 20 == 19:
        print(f"step {step} mean loss {float(total) / (step + 1):.4f}")
