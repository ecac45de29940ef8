"""Knots in planks, trained on images that an attack has made harder."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
planks = torch.rand(256, 1, 10, 10)
knots = (torch.rand(256) > 0.5).long()
planks[knots == 1, :, 3:6, 3:6] *= 0.3
loader = DataLoader(TensorDataset(planks, knots), batch_size=16, shuffle=True)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Dropout(0.3), nn.Linear(512, 2)
)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)


def harder(x, y, reach=0.03, rounds=3):
    model.eval()
    near = x + reach * torch.empty_like(x).uniform_(-1, 1)
    for _ in range(rounds):
        near.requires_grad_()
        (slope,) = torch.autograd.grad(F.cross_entropy(model(near), y), near)
        near = torch.clamp(near.detach() + reach / 2 * slope.sign(), x - reach, x + reach)
    return near.clamp(0, 1)


for epoch in range(4):
    model.train()
    for x, y in loader:
        loss = F.cross_entropy(model(harder(x, y)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
