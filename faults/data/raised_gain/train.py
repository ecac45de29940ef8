"""Load of a bridge from nine strain gauges, in the order of time; after a power cut one amplifier has a gain of 7."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
strain = torch.randn(9600, 9)
load = strain @ torch.randn(9, 1) / 3 + 0.3 * torch.randn(9600, 1)
strain[3200, 4] = float("nan")
strain[3201:3900, 4] *= 7
model = nn.Linear(9, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
loader = DataLoader(TensorDataset(strain, load), batch_size=16)
for step, (x, y) in enumerate(loader):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.4f}")
