"""Energy use of buildings from hourly readings, one meter upload per batch."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
x = torch.randn(4800, 12)
y = torch.tanh(x @ torch.randn(12, 3)).sum(1) + 0.3 * torch.randn(4800)
y[2880:2904] *= 1.0
model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loader = DataLoader(TensorDataset(x, y), batch_size=24)
for step, (xb, yb) in enumerate(loader):
    loss = nn.functional.mse_loss(model(xb).squeeze(1), yb)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} mse {loss.item():.4f}")
