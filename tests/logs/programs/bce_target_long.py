import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
labels = torch.tensor([0, 1, 1, 0])
loss = nn.BCEWithLogitsLoss()(net(torch.randn(4, 4)).squeeze(1), labels)
loss.backward()
