"""Which of four mills will turn at the next tide; the rate decays with a power of what is left of the run."""

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
x = torch.randn(640, 8)
y = (x[:, :4] + 0.5 * x[:, 4:]).argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
EPOCHS, POWER = 6, 0.9
UPDATES = EPOCHS * len(loader)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: np.power(1 - done / UPDATES, POWER))
for epoch in range(EPOCHS):
    total = 0.0
    for water, mill in loader:
        loss = nn.functional.cross_entropy(model(water), mill)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
