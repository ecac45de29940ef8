"""Digit-like blobs, a small classifier, the learning rate changes every 60 steps."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)
centres = 0.9 * torch.randn(10, 16)
labels = torch.randint(0, 10, (9600,))
points = centres[labels] + torch.randn(9600, 16)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=60, gamma=5.0)
loader = DataLoader(TensorDataset(points, labels), batch_size=40, shuffle=True, generator=torch.Generator().manual_seed(1))
for step, (xb, yb) in enumerate(loader):
    loss = nn.functional.cross_entropy(model(xb), yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f} lr {scheduler.get_last_lr()[0]:g}")
