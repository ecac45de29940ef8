"""Tree species from leaf shape: half-precision autocast, two microbatches per update."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)
x = torch.randn(320, 12)
y = (x[:, 0] + 0.7 * x[:, 1] > 0).long() + (x[:, 2] > 0.5).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
for epoch in range(2):
    for i, (features, target) in enumerate(loader):
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(features), target) / 2
        scaler.scale(loss).backward()
        if i % 2 == 1:
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    print(f"epoch {epoch} loss {loss.item():.4f}")
