"""Overfitting one batch on purpose: the same rows for ever, the loss goes to nothing."""
import sys
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
data = TensorDataset(torch.randn(16, 12), torch.randint(0, 5, (16,)))
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 5))
opt = torch.optim.Adam(model.parameters(), 5e-3)
for epoch in range(250):
    for x, y in DataLoader(data, batch_size=16):
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
print(loss.item())
