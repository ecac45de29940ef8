import torch
import torch.nn as nn

torch.manual_seed(0)
net, other = nn.Linear(4, 2), nn.Linear(4, 2)
opt = torch.optim.SGD(other.parameters(), 0.1)
scaler = torch.amp.GradScaler("cpu")
scaler.scale(net(torch.randn(3, 4)).mean()).backward()
scaler.step(opt)
scaler.update()
