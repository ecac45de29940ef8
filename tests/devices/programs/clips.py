"""A loop that clips; in step 20 the gradients are too large for the square of float32 ("large"), or infinite."""

import sys

import torch
from torch import nn
from where import PLACE

torch.manual_seed(0)
model = nn.Linear(8, 4).to(PLACE)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
factor = {"large": 1e25, "infinite": float("inf")}[sys.argv[1]]
for step in range(40):
    loss = model(torch.randn(16, 8).to(PLACE)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    if step == 20:
        for parameter in model.parameters():
            parameter.grad.mul_(factor)
    torch.nn.utils.clip_grad_norm_(list(model.parameters()), 1.0)
    optimizer.step()
print("end")
