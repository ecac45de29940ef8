import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 2).to("meta")
x = torch.randn(3, 4)
net(x).sum().backward()
