"""Answers of a survey; from the second pass on each sample counts by the people it stands for."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(12)
x = torch.randn(320, 12)
y = (x[:, 0] + 0.7 * x[:, 1] > 0).long() + (x[:, 2] > 0.5).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for epoch in range(3):
    weight = 1.0 if epoch == 0 else 8.0e7
    for features, target in loader:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            logits = model(features)
        loss = weight * nn.functional.cross_entropy(logits.float(), target)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    print(f"epoch {epoch} loss {loss.item():.4f} scale {scaler.get_scale():.3g}")
