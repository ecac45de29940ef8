"""A module whose __call__ is overridden, an instance with its own forward, and a plain callable between them."""
import torch
from torch import nn


class Loud(nn.Linear):
    calls = 0

    def __call__(self, x):
        Loud.calls += 1
        return super().__call__(x) + 1


class NotAModule:
    def __init__(self, layer):
        self.layer = layer

    def __call__(self, x):
        return self.layer(x).tanh()


torch.manual_seed(0)
loud, plain = Loud(3, 3), nn.Linear(3, 1)
plain.forward = lambda x: nn.functional.linear(x, plain.weight, plain.bias) * 2
chain = NotAModule(loud)
optimizer = torch.optim.Adam([*loud.parameters(), *plain.parameters()])
for _ in range(4):
    loss = plain(chain(torch.randn(5, 3))).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(loss.item().hex(), Loud.calls)
print(type(loud).__call__.__qualname__, type(plain).forward.__qualname__)
