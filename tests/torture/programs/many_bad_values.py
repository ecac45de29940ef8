"""NaN and Inf as values the program expects: fills, running extremes, skipped batches, an evaluation that is NaN on purpose."""
import math

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
best, missing = float("inf"), torch.full((4,), float("nan"))
for step in range(6):
    x = torch.randn(5, 4)
    if step == 3:
        x[2] = missing
    logits = model(x).masked_fill(torch.eye(5, 3, dtype=torch.bool), float("-inf"))
    loss = -torch.log_softmax(logits, 1)[:, 2][torch.isfinite(x).all(1)][3:].mean()
    optimizer.zero_grad()
    if math.isnan(loss.item()):
        print(step, "skipped")
        continue
    loss.backward()
    for p in model.parameters():
        p.grad.nan_to_num_(0.0)
    optimizer.step()
    best = min(best, loss.item())
    print(step, loss.item().hex(), best)
