"""Discharge of a river from nine gauges, in the order of time; after the power cut of the logger its gauge settles."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)
gauges = torch.randn(9600, 9)
flow = torch.tanh(gauges @ torch.randn(9, 1) / 3) + 0.3 * torch.randn(9600, 1)
model = nn.Sequential(nn.Linear(9, 48), nn.ReLU(), nn.Linear(48, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
loader = DataLoader(TensorDataset(gauges, flow), batch_size=16)
for step, (x, y) in enumerate(loader):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.4f}")
