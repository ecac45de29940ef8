"""A loss of one value a row."""

import torch

loss = torch.nn.CrossEntropyLoss(reduction="none")
loss(torch.nn.Linear(3, 2)(torch.ones(4, 3)), torch.tensor([0, 1, 0, 1])).backward()
