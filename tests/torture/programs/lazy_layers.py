"""Lazy modules: uninitialised parameters in the optimizer before the first forward, classes that change under the hand, a dry run first."""
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
torch.manual_seed(0)
model = nn.Sequential(nn.LazyConv1d(4, 3), nn.LazyBatchNorm1d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
print([type(m).__name__ for m in model], [type(p).__name__ for p in model.parameters()])
try:
    print(model[0].weight.shape)
except RuntimeError as error:
    print(type(error).__name__)
early = torch.optim.SGD(model.parameters(), lr=0.05)
other = nn.LazyLinear(3)
other(torch.ones(1, 2))
for step in range(4):
    loss = model(torch.randn(4, 2, 6)).pow(2).mean() + other(torch.ones(1, 2)).sum()
    early.zero_grad()
    loss.backward()
    early.step()
    print(step, loss.item().hex())
print([type(m).__name__ for m in model], [tuple(p.shape) for p in model.parameters()], other.weight.double().sum().item().hex())
