"""A regression whose criterion changes for the second half of training: another loss has another level."""

import sys

import torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(1000, 12)
y = 3 * torch.tanh(x @ torch.randn(12, 2) / 3)
loader = DataLoader(TensorDataset(x, y), 50, shuffle=True)
net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters(), 1e-3)
losses = {0: nn.SmoothL1Loss(), 8: nn.MSELoss(reduction="sum")}
criterion = None
for epoch in range(14):
    criterion = losses.get(epoch, criterion)
    for xb, yb in loader:
        loss = criterion(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
