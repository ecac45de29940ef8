"""The user replaces Tensor.backward, Optimizer.step, Module.__call__ and DataLoader.__iter__ before, during and after training, and puts them back."""
import functools

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

counts = {"backward": 0, "step": 0, "call": 0, "iter": 0}


def counted(name, old):
    @functools.wraps(old)
    def new(*args, **kwargs):
        counts[name] += 1
        return old(*args, **kwargs)
    return new


def patch():
    old = torch.Tensor.backward, torch.optim.SGD.step, nn.Module.__call__, DataLoader.__iter__
    torch.Tensor.backward = counted("backward", old[0])
    torch.optim.SGD.step = counted("step", old[1])
    nn.Module.__call__ = counted("call", old[2])
    DataLoader.__iter__ = counted("iter", old[3])
    return old


def restore(old):
    torch.Tensor.backward, torch.optim.SGD.step, nn.Module.__call__, DataLoader.__iter__ = old


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
kept = patch()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
data = TensorDataset(torch.randn(8, 3))
for epoch in range(4):
    if epoch == 1:
        restore(kept)
    if epoch == 2:
        kept = patch()
    for (x,) in DataLoader(data, batch_size=4):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item().hex(), counts)
restore(kept)
optimizer.step = functools.partial(lambda real: (counts.update(step=100), real())[1], optimizer.step)
model(torch.ones(1, 3)).sum().backward()
optimizer.step()
print(counts, [p.double().sum().item().hex() for p in model.parameters()], torch.Tensor.backward.__name__, torch.optim.SGD.step.__qualname__)
