"""How far a glider flies from its launch: a small network under a warm-up and a cosine that were given in launches."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(2)
LAUNCHES, BATCH, EPOCHS = 640, 32, 3
UPDATES = EPOCHS * LAUNCHES // BATCH
WARM_UP = np.int64(UPDATES)


def share(update):
    """Of the full rate: rising in the warm-up, then down to 0."""
    if update < WARM_UP:
        return (update + 1) / WARM_UP
    return 0.5 * (1 + np.cos(np.pi * (update - WARM_UP) / (UPDATES - WARM_UP)))


launches = torch.randn(LAUNCHES, 6)
distance = launches[:, 0] * 2 + torch.sin(launches[:, 1]) + 0.1 * torch.randn(LAUNCHES)
model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
for update in range(UPDATES + 20):
    rows = torch.randint(LAUNCHES, (BATCH,))
    loss = nn.functional.mse_loss(model(launches[rows])[:, 0], distance[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    if update % 20 == 0:
        print(f"update {update} loss {loss.item():.4f}")
print(f"loss {loss.item():.4f}")
