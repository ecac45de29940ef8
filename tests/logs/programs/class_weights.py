"""Weights of four classes for a head of five."""

import torch

loss = torch.nn.CrossEntropyLoss(weight=torch.ones(4))
loss(torch.nn.Linear(3, 5)(torch.ones(4, 3)), torch.tensor([0, 1, 0, 1])).backward()
