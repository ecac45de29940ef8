import torch
import torch.nn as nn

net = nn.Conv2d(3, 8, 3)
net(torch.randn(4, 1, 28, 28)).mean().backward()
