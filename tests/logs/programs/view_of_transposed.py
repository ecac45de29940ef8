"""Attention whose heads are joined by view after a transpose."""

import torch

heads = torch.nn.Linear(6, 6)(torch.ones(2, 5, 6)).view(2, 5, 3, 2).transpose(1, 2)
print(heads.transpose(1, 2).view(2, 5, 6).shape)
print(heads.view(2, 5, 6).shape)
