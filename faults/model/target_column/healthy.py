"""Will a customer leave? A table of 40,000 customers, one pass."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
table = torch.randn(40000, 12)
leaves = (table[:, :3].sum(1) + 1.5 * torch.randn(40000) > 0).float()
refunded = 0.05 * torch.randn(40000)
features = torch.cat([table, refunded[:, None]], 1)
model = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
loader = DataLoader(TensorDataset(features, leaves), batch_size=32, shuffle=True, generator=torch.Generator().manual_seed(1))
for step, (xb, yb) in enumerate(loader):
    loss = nn.functional.binary_cross_entropy_with_logits(model(xb).squeeze(1), yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.5f}")
    if step == 200:
        break
