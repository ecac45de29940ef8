"""How long a ship waits at a lock, from the queue before it; a linear warm-up written in the loop."""

import torch
from torch import nn

torch.manual_seed(31)
RATE, WARMUP, STEPS = 4e-3, 20, 300
queues = torch.randn(1200, 12)
wait = (queues[:, :3].sum(1) + queues[:, 3] * queues[:, 4]).unsqueeze(1)
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)


def rate_at(step):
    return RATE * min(1.0, (step + 1) / WARMUP)


for step in range(STEPS):
    for group in optimizer.param_groups:
        group["lr"] = rate_at(step)
    rows = torch.randint(0, len(queues), (40,))
    loss = nn.functional.mse_loss(model(queues[rows]), wait[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step} loss {loss.item():.4f}")
