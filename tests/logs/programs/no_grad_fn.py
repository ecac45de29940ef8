import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
with torch.no_grad():
    loss = net(torch.randn(3, 4)).mean()
loss.backward()
