import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
target = torch.tensor([0, 1, 2, 3])
loss = nn.CrossEntropyLoss()(net(torch.randn(4, 4)), target)
loss.backward()
