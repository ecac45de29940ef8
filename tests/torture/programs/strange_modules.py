"""Modules with __slots__, __getattr__, __len__ of 0, __eq__ by value, unhashable, and a property named like a method."""
import torch
from torch import nn


class Slotted(nn.Linear):
    __slots__ = ("note",)


class Forwarding(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("inner"), name)

    def forward(self, x):
        return self.inner(x)


class Empty(nn.Module):
    def __len__(self):
        return 0

    def __bool__(self):
        raise RuntimeError("do not ask me")

    def __eq__(self, other):
        raise RuntimeError("do not compare me")

    __hash__ = nn.Module.__hash__

    def forward(self, x):
        return x.relu()


torch.manual_seed(0)
first = Slotted(4, 4)
first.note = "kept"
model = nn.Sequential(Forwarding(first), Empty(), nn.Linear(4, 1))
optimizer = torch.optim.RMSprop(model.parameters())
for step in range(4):
    loss = model(torch.randn(3, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), model[0].in_features, model[0].note)
