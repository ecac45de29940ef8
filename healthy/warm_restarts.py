"""Cosine warm restarts: the learning rate jumps up by a factor of a thousand, on purpose, several times."""
import sys
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(1600, 20)
y = (x[:, :5].sum(1) + x[:, 5] * x[:, 6] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 2))
opt = torch.optim.SGD(model.parameters(), 0.2, momentum=0.9)
sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=60, T_mult=2, eta_min=1e-4)
for epoch in range(6):
    total = 0.0
    for a, b in loader:
        opt.zero_grad()
        loss = F.cross_entropy(model(a), b)
        loss.backward()
        opt.step()
        sched.step()
        total += loss.item()
    print(epoch, total / len(loader))
