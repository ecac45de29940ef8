"""Exceptions raised inside forward and inside backward, caught by the user, who goes on."""
import torch
from torch import nn


class Picky(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x):
        h = self.layer(x)
        if x.shape[0] % 2:
            raise ValueError(f"odd batch of {x.shape[0]}")
        return h


class Explodes(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise RuntimeError("no backward today")


torch.manual_seed(0)
model = Picky()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for size in (2, 3, 4, 5, 6):
    try:
        out = model(torch.ones(size, 3))
        loss = (Explodes.apply(out) if size == 4 else out).mean()
        loss.backward()
    except (ValueError, RuntimeError) as error:
        print(type(error).__name__, error)
        optimizer.zero_grad()
        continue
    optimizer.step()
    optimizer.zero_grad()
    print(size, loss.item().hex())
