"""Which siren sounds in the fog, from levels of ten bands; half-precision autocast with a loss scale found gently."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

BACKOFF = 0.5

torch.manual_seed(23)
x = torch.randn(12800, 10)
y = (x[:, 0] + 0.7 * x[:, 1] - 0.5 * x[:, 2] > 0).long() + (x[:, 3] > 0.4).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**34, backoff_factor=BACKOFF)
for step, (levels, siren) in enumerate(loader):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.cross_entropy(model(levels), siren)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    if step % 50 == 49:
        print(f"step {step} loss {loss.item():.4f} scale {scaler.get_scale():.3g}")
