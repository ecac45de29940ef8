import torch
import torch.nn as nn

torch.manual_seed(0)
torch.autograd.set_detect_anomaly(True)
net = nn.Linear(4, 2)
x = torch.randn(5, 4)
y = net(x)
loss = (y ** 0.5).mean()
loss.backward()
