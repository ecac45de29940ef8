import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 10))
for step in range(3):
    loss = net(torch.randn(4, 3, 16, 16)).mean()
    loss.backward()
