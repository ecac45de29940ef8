import torch
import torch.nn as nn

torch.manual_seed(0)
torch.autograd.set_detect_anomaly(True)
net = nn.Linear(4, 1)
x = torch.randn(8, 4) * 1000
y = torch.exp(net(x))
loss = (y / (1 + y)).mean()
loss.backward()
