"""Regression with Student-t noise and mean squared error: single batches have a loss ten times the usual."""
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(6400, 10)
noise = torch.distributions.StudentT(3.0).sample((6400,))
y = x[:, 0] * 2 - x[:, 1] + noise
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), 1e-3)
for epoch in range(2):
    for a, b in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(a).squeeze(1), b)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
