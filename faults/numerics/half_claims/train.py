"""Claims of an insurer under a GradScaler; each counts by its sum insured, and one branch insures whole plants."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

LARGEST = 4e12

torch.manual_seed(37)
x = torch.randn(9600, 10)
y = (x[:, 0] + 0.6 * x[:, 1] - 0.4 * x[:, 2] > 0).long()
insured = torch.ones(9600)
insured[480:1440] = LARGEST
loader = DataLoader(TensorDataset(x, y, insured), batch_size=16)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12)
for step, (claims, paid, weight) in enumerate(loader):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        logits = model(claims)
    loss = nn.functional.cross_entropy(logits.float(), paid)
    weighted = (weight * nn.functional.cross_entropy(logits.float(), paid, reduction="none")).mean()
    scaler.scale(weighted).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 0.05)
    scaler.step(optimizer)
    scaler.update()
    if step % 50 == 49:
        print(f"step {step} loss {loss.item():.4f} scale {scaler.get_scale():.3g}")
