import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 3)
target = torch.tensor([0.0, 1.0, 2.0, 1.0])
loss = F.nll_loss(F.log_softmax(net(torch.randn(4, 4)), 1), target)
