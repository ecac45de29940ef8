"""Is there a first arrival in the window? Small network under half-precision autocast."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
x = torch.randn(640, 12)
y = (x[:, 0] + 0.7 * x[:, 1] > 0).long() + (x[:, 2] > 0.5).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12)
for epoch in range(3):
    total = 0.0
    for features, target in loader:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(features), target)
        scaler.scale(loss).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
