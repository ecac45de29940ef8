import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
scaler = torch.amp.GradScaler("cpu")
scaler.scale(net(torch.randn(3, 4)).mean()).backward()
scaler.unscale_(opt)
nn.utils.clip_grad_norm_(net.parameters(), 1.0)
scaler.unscale_(opt)
scaler.step(opt)
