import torch
import torch.nn as nn

net = nn.Linear(8, 3)
net.half()
x = torch.randn(2, 8)
out = net(x)
