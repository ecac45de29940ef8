"""Parameters and inputs that are Tensor subclasses: a logging __torch_function__, a wrapper with __torch_dispatch__, a subclass of Parameter."""
import collections

import torch
from torch import nn
from torch.utils._pytree import tree_map

log = collections.Counter()


class Logged(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        log[getattr(func, "__name__", str(func))] += 1
        return super().__torch_function__(func, types, args, kwargs or {})


class Wrapped(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device, requires_grad=inner.requires_grad)

    def __init__(self, inner):
        self.inner = inner

    def __repr__(self):
        return f"Wrapped({tuple(self.shape)})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        log["dispatch"] += 1
        args, kwargs = tree_map(lambda t: t.inner if isinstance(t, Wrapped) else t, (args, kwargs or {}))
        out = func(*args, **kwargs)
        return tree_map(lambda t: Wrapped(t) if isinstance(t, torch.Tensor) else t, out)


class Named(nn.Parameter):
    def __new__(cls, data, label):
        made = super().__new__(cls, data)
        made.label = label
        return made


torch.manual_seed(0)
model = nn.Linear(3, 1)
model.weight = Named(model.weight.data, "w")
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(4):
    x = torch.randn(4, 3)
    loss = model(x.as_subclass(Logged)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, type(loss).__name__, float(loss).hex(), type(model.weight).__name__, model.weight.label)
other = nn.Linear(3, 1)
out = other(Wrapped(torch.randn(4, 3)))
print(out, isinstance(out, Wrapped), out.inner.sum().item().hex())
out.pow(2).sum().backward()
print(type(other.weight.grad).__name__, sorted((k, v) for k, v in log.items()))
