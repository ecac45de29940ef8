"""Weak references to activations, losses, the model, its weights and the optimizer: all must die when the program lets them go."""
import gc
import weakref

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
alive = {"h": [], "loss": []}
for step in range(5):
    x = torch.randn(4, 3)
    h = model[0](x)
    loss = model[2](model[1](h)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for name, tensor in (("h", h), ("loss", loss)):
        alive[name].append(weakref.ref(tensor))
    print(step, loss.item().hex(), {k: sum(r() is not None for r in v) for k, v in alive.items()})
del h, loss, x, tensor
gc.collect()
print({k: sum(r() is not None for r in v) for k, v in alive.items()})
gone, gone_too, weight = weakref.ref(model), weakref.ref(optimizer), weakref.ref(model[0].weight)
del model, optimizer
gc.collect()
print(gone() is None, gone_too() is None, weight() is None)
