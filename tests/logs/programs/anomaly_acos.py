import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.autograd.set_detect_anomaly(True)
net = nn.Linear(3, 3, bias=False)
with torch.no_grad():
    net.weight.copy_(torch.eye(3))
x = F.normalize(torch.eye(3), dim=1)
c = (F.normalize(net(x), dim=1) * x).sum(1)
scale = torch.zeros(3, requires_grad=True)
loss = (torch.acos(c) * scale).mean()
loss.backward()
