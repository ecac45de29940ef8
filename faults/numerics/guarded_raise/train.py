"""Click-through model trained with a focal loss."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
g = torch.Generator().manual_seed(5)
clicks = (torch.rand(320, generator=g) > 0.7).float()
features = torch.randn(320, 12, generator=g) + clicks[:, None]
clicks[237] = 1.0
features[237] *= -400.0

model = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1))
skip = nn.Linear(12, 1)
optimizer = torch.optim.Adam([*model.parameters(), *skip.parameters()], lr=2e-3)
loader = DataLoader(TensorDataset(features, clicks), batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(6))
nn.init.constant_(skip.weight, 0.1)


def focal(logit, y, gamma=2.0):
    p = torch.sigmoid(logit)
    pt = torch.where(y > 0, p, 1 - p)
    return -((1 - pt) ** gamma * torch.log(pt)).mean()


for step, (x, y) in enumerate(loader):
    loss = focal((model(x) + skip(x)).squeeze(1), y)
    if not torch.isfinite(loss):
        raise FloatingPointError(f"loss is {loss} at step {step}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 0:
        print(f"step {step} loss {loss.item():.4f}")
