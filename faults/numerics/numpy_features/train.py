"""Regression on a table that was prepared with numpy."""

import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(2)
table = np.random.default_rng(2).normal(size=(128, 6))
price = torch.tensor(table.sum(1), dtype=torch.float32)
features = torch.from_numpy(table)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(12):
    loss = nn.functional.mse_loss(model(features).squeeze(1), price)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
