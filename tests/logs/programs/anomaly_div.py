import torch
import torch.nn as nn

torch.manual_seed(0)
torch.autograd.set_detect_anomaly(True)
net = nn.Linear(4, 1)
x, mask = torch.randn(6, 4), torch.zeros(6, 1)
err = (net(x) - 1) ** 2
loss = (err * mask).sum() / mask.sum()
loss.backward()
