"""BatchNorm with batches of four and a noisy task: the loss jumps about."""
import sys
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(400, 3, 8, 8)
y = (x.mean((1, 2, 3)) + 0.1 * torch.randn(400) > 0).long()
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(model.parameters(), 1e-3)
for epoch in range(3):
    model.train()
    for a, b in DataLoader(TensorDataset(x, y), batch_size=4, shuffle=True):
        opt.zero_grad()
        loss = F.cross_entropy(model(a), b)
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        print(epoch, F.cross_entropy(model(x), y).item())
