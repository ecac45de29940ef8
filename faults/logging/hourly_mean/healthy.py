"""Traffic of the next hour; every 60 updates the mean loss goes to TensorBoard."""

import tempfile

import torch
import torch.nn as nn
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(41)
x = torch.randn(4000, 8)
y = x[:, :1] - 0.5 * x[:, 1:2] + 0.5 * torch.randn(4000, 1)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.002)
writer = SummaryWriter(tempfile.mkdtemp())
losses = []
for step in range(240):
    rows = slice(step * 16, step * 16 + 16)
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step % 60 == 59:
        writer.add_scalar("train/loss", sum(losses) / len(losses), step)
        print(f"step {step} loss {sum(losses) / len(losses):.4f}")
        losses.clear()
writer.close()
