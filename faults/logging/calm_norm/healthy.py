"""Sunspot counts from a recurrent network; loss and gradient norm go to TensorBoard."""

import tempfile

import torch
import torch.nn as nn
from torch.utils.tensorboard import SummaryWriter


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.GRU(1, 24, batch_first=True)
        self.head = nn.Linear(24, 1)

    def forward(self, x):
        return self.head(self.body(x)[0][:, -1]).squeeze(1)


torch.manual_seed(23)
model = Counter()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
writer = SummaryWriter(tempfile.mkdtemp())
for step in range(150):
    t = torch.rand(32, 1, 1) * 11
    x = torch.sin((t + torch.arange(30).view(1, 30, 1)) * 0.57) + 0.1 * torch.randn(32, 30, 1)
    y = 12 * torch.sin((t.view(32) + 30) * 0.57)
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 2.0)
    optimizer.step()
    writer.add_scalar("train/loss", loss.item(), step)
    writer.add_scalar("train/grad_norm", norm.item(), step)
    if step % 30 == 0:
        print(f"step {step} loss {loss.item():.3f} norm {norm.item():.3f}")
writer.close()
