import torch
import torch.nn as nn

torch.manual_seed(0)
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(33, 6))
net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
for i, (x,) in enumerate(DataLoader(data, batch_size=16)):
    loss = net(x).pow(2).mean()
    loss.backward()
    print(f"[epoch 0 | batch {i}] loss={loss.item():.3f}")
