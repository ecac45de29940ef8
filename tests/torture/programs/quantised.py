"""Quantised tensors and fake quantisation in the loop."""
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
torch.manual_seed(0)
model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(6, 4)
    stored = torch.quantize_per_tensor(x, 0.05, 0, torch.qint8)
    weight = torch.fake_quantize_per_tensor_affine(model.weight, 0.02, 0, -128, 127)
    loss = (nn.functional.linear(stored.dequantize(), weight, model.bias) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), stored.int_repr().sum().item())
