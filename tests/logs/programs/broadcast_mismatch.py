import torch
import torch.nn as nn

torch.manual_seed(0)
a = nn.Linear(8, 16)
b = nn.Linear(8, 12)
x = torch.randn(4, 8)
out = a(x) + b(x)
out.sum().backward()
